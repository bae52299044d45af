import { Button, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import {
  EndOneSession,
  EndSessionsOfUser,
  SessionsOfUser,
  type SessionsOfUserQuery,
} from '../../../generated/portal/account/sessions';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { useFormats, useTexts } from '../language/use-texts';
import { ConfirmDialog, useNotice } from '../shell/confirm-dialog';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { nameProgram } from './name-program';

type ListedSession = SessionsOfUserQuery['sessions'][number];

/** The open sessions of a user. One can be ended, or all except the current one. */
export function SessionList({ userId }: { readonly userId: string }) {
  const t = useTexts();
  const notice = useNotice();
  const isOwn = useViewer().id === userId;
  const [isAsking, setAsking] = useState(false);
  const { data, error, refetch } = useOperation(SessionsOfUser, { userId });
  const logOut = useChange(EndSessionsOfUser, [SessionsOfUser]);
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={3} />;
  const { sessions } = data;
  if (sessions.length === 0) return <EmptyState icon="user" title={t('No sessions')} />;
  const others = sessions.filter(({ isCurrent }) => !isCurrent).length;
  const title = isOwn ? t('Log out everywhere else') : t('Log out everywhere');
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
      <Table className="stacked-table" verticalSpacing="sm" fz="sm" aria-label={t('Sessions')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Logged in')}</Table.Th>
            <Table.Th>{t('Last active')}</Table.Th>
            <Table.Th>{t('Address')}</Table.Th>
            <Table.Th>{t('Browser or app')}</Table.Th>
            <Table.Th>{t('Actions')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </Table.Tbody>
      </Table>
      {others > 0 && (
        <Button variant="default" onClick={() => setAsking(true)}>
          {title}
        </Button>
      )}
      {isAsking && (
        <ConfirmDialog
          title={title}
          action={title}
          isDangerous
          isBusy={logOut.isPending}
          problem={logOut.error}
          onConfirm={confirm}
          onClose={() => setAsking(false)}
        >
          {isOwn
            ? t('All your other sessions end at once. API keys keep working.')
            : t('All sessions of this user end at once, except the one you are in. API keys keep working.')}
        </ConfirmDialog>
      )}
    </Stack>
  );
}

/** The short name of the program. The tooltip shows the whole `User-Agent`. */
function ProgramName({ userAgent }: Pick<ListedSession, 'userAgent'>) {
  const t = useTexts();
  const { program, system } = nameProgram(userAgent ?? '');
  return (
    <span title={userAgent ?? undefined}>
      {system === undefined ? program : t('{program} on {system}', { program, system })}
    </span>
  );
}

function SessionRow({ session }: { readonly session: ListedSession }) {
  const t = useTexts();
  const notice = useNotice();
  const { instant } = useFormats();
  const end = useChange(EndOneSession, [SessionsOfUser]);
  const { id, createdAt, lastSeenAt, address, userAgent, isCurrent } = session;
  const ended = {
    onSuccess: () => notice(t('The session has ended.')),
    onError: ({ message }: Error) => notice(<ProblemWords text={message} />, 'failed'),
  };
  return (
    <Table.Tr>
      <Table.Td data-label={t('Logged in')}>{instant(createdAt)}</Table.Td>
      <Table.Td data-label={t('Last active')}>{instant(lastSeenAt ?? createdAt)}</Table.Td>
      <Table.Td data-label={t('Address')}>{address}</Table.Td>
      <Table.Td data-label={t('Browser or app')} className="wrapped">
        <ProgramName userAgent={userAgent} />
      </Table.Td>
      <Table.Td className="unbroken">
        {isCurrent ? (
          <Text size="sm" c="dimmed">
            {t('This session')}
          </Text>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            loading={end.isPending}
            aria-label={t('End the session of {address}, {instant}', {
              address: address ?? '–',
              instant: instant(createdAt),
            })}
            onClick={() => end.mutate({ id }, ended)}
          >
            {t('End')}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
