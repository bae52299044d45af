/** The latest message to each address and number of a record. */
import { Anchor, Group, Stack, Table, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { MessagesOfPortal } from '../../../generated/portal/messages/messages';
import { useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { MessageDialog } from '../messages/message-dialog';
import { labelOfMessage, MESSAGE_STATE_NAMES } from '../messages/messages-filter';
import { StateTag } from '../shell/state-tag';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

export function RecordMessages({ addresses }: { readonly addresses: readonly string[] }) {
  const t = useTexts();
  if (addresses.length === 0) {
    return <EmptyState icon="mail" title={t('This record has no email address or phone number')} />;
  }
  return (
    <Stack maw={900}>
      {addresses.map((address) => (
        <MessagesTo key={address} address={address} />
      ))}
    </Stack>
  );
}

const SHOWN = 10;

function MessagesTo({ address }: { readonly address: string }) {
  const t = useTexts();
  const { instant } = useFormats();
  const [opened, setOpened] = useState<string>();
  const { data, error, refetch } = useOperation(MessagesOfPortal, { recipient: address, first: SHOWN });
  const messages = data?.messages.nodes ?? [];
  const message = messages.find(({ id }) => id === opened);
  return (
    <section aria-label={address}>
      <Group justify="space-between">
        <Title order={2} size="h5">
          {address}
        </Title>
        <Anchor component={Link} to="/portal/messages" search={{ recipient: address } as never} size="sm">
          {t('All messages to this record')}
        </Anchor>
      </Group>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState rows={3} />}
      {data && messages.length === 0 && <p className="dimmed">{t('No messages yet')}</p>}
      {messages.length > 0 && (
        <div className="table-scroll">
          <Table aria-label={t('Messages')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('Message')}</Table.Th>
                <Table.Th>{t('State')}</Table.Th>
                <Table.Th>{t('Requested')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {messages.map((one) => (
                <Table.Tr key={one.id}>
                  <Table.Td className="wrapped">
                    <Anchor component="button" type="button" size="sm" onClick={() => setOpened(one.id)}>
                      {labelOfMessage(one) || t('Without a subject')}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>
                    <StateTag state={one.state}>{t(MESSAGE_STATE_NAMES[one.state] ?? one.state)}</StateTag>
                  </Table.Td>
                  <Table.Td className="unbroken">{instant(one.createdAt)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {message && <MessageDialog message={message} onClose={() => setOpened(undefined)} />}
    </section>
  );
}
