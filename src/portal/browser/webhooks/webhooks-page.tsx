/** The webhooks, and a button to create another one. */
import { Anchor, Button, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  MakeWebhook,
  WebhooksOfPortal,
  type WebhooksOfPortalQuery,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { InputDialog } from '../shell/confirm-dialog';
import { Icon, StateTag } from '../shell/icon';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { useEventWords, WebhookForm, WebhookSecret } from './webhook-form';

export function WebhooksPage() {
  const t = useTexts();
  const [isMaking, setMaking] = useState(false);
  const { data, error, refetch } = useOperation(WebhooksOfPortal, {});
  return (
    <PageFrame
      title={t('Webhooks')}
      description={t('Send record changes to your own server: signed, and retried until it answers')}
      actions={
        <Button leftSection={<Icon name="plus" size={14} />} onClick={() => setMaking(true)}>
          {t('New webhook')}
        </Button>
      }
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState />}
      {data?.webhooks.length === 0 && (
        <EmptyState
          icon="webhook"
          title={t('No webhooks yet')}
          action={<Button onClick={() => setMaking(true)}>{t('Create the first one')}</Button>}
        >
          {t('Use one for programs that cannot keep a connection open for live data.')}
        </EmptyState>
      )}
      {data && data.webhooks.length > 0 && <WebhookTable webhooks={data.webhooks} />}
      {isMaking && <NewWebhookDialog onClose={() => setMaking(false)} />}
    </PageFrame>
  );
}

interface WebhookTableProps {
  readonly webhooks: WebhooksOfPortalQuery['webhooks'];
}

function WebhookTable({ webhooks }: WebhookTableProps) {
  const t = useTexts();
  const wordsOf = useEventWords();
  return (
    <section aria-label={t('Webhooks')}>
      <Table className="stacked-table" verticalSpacing="sm" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>{t('Events')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {webhooks.map(({ id, name, url, events, isPaused }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Anchor component={Link} to={`/portal/webhooks/${id}`} fw={600} size="sm" display="block">
                  {name}
                </Anchor>
                <Text size="xs" c="dimmed" className="wrapped">
                  {url}
                </Text>
              </Table.Td>
              <Table.Td data-label={t('Events')}>
                <ul className="plain-list">
                  {events.map((event) => (
                    <li key={wordsOf(event)} className="wrapped">
                      {wordsOf(event)}
                    </li>
                  ))}
                </ul>
              </Table.Td>
              <Table.Td data-label={t('State')}>
                <StateTag state={isPaused ? 'paused' : 'active'}>
                  {isPaused ? t('Paused') : t('Active')}
                </StateTag>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function NewWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useTexts();
  const { collections } = useViewer();
  const { mutate, data, error, isPending } = useChange(MakeWebhook, [WebhooksOfPortal]);
  const collection = collections.find(({ canRead }) => canRead)?.name ?? '';
  const events = [{ collection, operations: ['created', 'updated', 'deleted'], oquery: null }];
  return (
    <InputDialog
      opened
      size="lg"
      onClose={onClose}
      title={data ? t('Webhook secret') : t('New webhook')}
      closeOnClickOutside={false}
    >
      {data ? (
        <WebhookSecret secret={data.createWebhook.secret} onClose={onClose} />
      ) : (
        <WebhookForm
          values={{ name: '', url: '', events }}
          action={t('Create webhook')}
          isBusy={isPending}
          problem={error}
          onSave={(values) => mutate({ data: values })}
        />
      )}
    </InputDialog>
  );
}
