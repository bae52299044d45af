import { Button, Stack, Table } from '@mantine/core';
import { useState } from 'react';
import { LogPersonOut, PeopleSessions } from '../../../generated/portal/people/people';
import { useChange, useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { ConfirmDialog } from '../shell/confirm-dialog';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useNotice } from '../shell/use-notice';

/** Where a user is logged in, and the end of it. */
export function SessionsTab({ userId }: { readonly userId: string }) {
  const t = useTexts();
  const notice = useNotice();
  const { instant } = useFormats();
  const [isAsking, setAsking] = useState(false);
  const { data, error, refetch } = useOperation(PeopleSessions, { userId });
  const logOut = useChange(LogPersonOut, [PeopleSessions]);
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const { sessions } = data;
  if (sessions.length === 0) return <EmptyState icon="user" title={t('Not logged in anywhere')} />;
  const confirm = () =>
    logOut.mutate(
      { userId },
      {
        onSuccess: ({ endSessions }) => {
          setAsking(false);
          notice(
            t('{count, plural, one {# session has} other {# sessions have}} ended.', { count: endSessions }),
          );
        },
      },
    );
  return (
    <Stack align="flex-start">
      <Button variant="default" onClick={() => setAsking(true)}>
        {t('Log out everywhere')}
      </Button>
      <Table.ScrollContainer minWidth={640} w="100%" scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Logged in')}</Table.Th>
              <Table.Th>{t('Seen last')}</Table.Th>
              <Table.Th>{t('Address')}</Table.Th>
              <Table.Th>{t('Program')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sessions.map(({ id, createdAt, lastSeenAt, address, userAgent, isCurrent }) => (
              <Table.Tr key={id}>
                <Table.Td>{instant(createdAt)}</Table.Td>
                <Table.Td>{isCurrent ? t('This session') : instant(lastSeenAt ?? createdAt)}</Table.Td>
                <Table.Td>{address}</Table.Td>
                <Table.Td className="wrapped">{userAgent}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {isAsking && (
        <ConfirmDialog
          title={t('Log out everywhere')}
          action={t('Log out everywhere')}
          isDangerous
          isBusy={logOut.isPending}
          problem={logOut.error}
          onConfirm={confirm}
          onClose={() => setAsking(false)}
        >
          {t('All sessions of this user end on every gateway, except the one you are in. API keys go on.')}
        </ConfirmDialog>
      )}
    </Stack>
  );
}
