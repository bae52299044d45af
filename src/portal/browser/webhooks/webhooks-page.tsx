/** The webhooks, and the form of a new or an existing one. */
import { Checkbox, Fieldset, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  MakeWebhook,
  WebhooksOfPortal,
  type WebhooksOfPortalQuery,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange, useOperation, useTitleOf, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import {
  InputDialog,
  SecretDialog,
  type SecretDialogProps,
  SubmitForm,
  type SubmitFormProps,
} from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ListPage, ListTable, PlainList } from '../shell/list-table';
import { TextButton, TextLink } from '../shell/text-button';
import { ChoiceField, TextField } from '../shell/text-field';

export function WebhooksPage() {
  return (
    <ListPage
      title={t('Webhooks')}
      description={t('Send record changes to your own server: signed, and retried until it answers')}
      of={useOperation(WebhooksOfPortal, {})}
      rowsOf={({ webhooks }) => webhooks}
      empty={{
        icon: 'webhook',
        title: t('No webhooks yet'),
        about: t('Use one for programs that cannot keep a connection open for live data.'),
      }}
      create={{
        label: t('New webhook'),
        first: t('Create the first one'),
        dialog: (close) => <NewWebhookDialog onClose={close} />,
      }}
    >
      {(webhooks) => (
        <ListTable<ListedWebhook>
          label={t('Webhooks')}
          rows={webhooks}
          columns={[
            [
              t('Name'),
              ({ id, name, url }) => (
                <>
                  <TextLink to={`/portal/webhooks/${id}`} fw={600} display="block">
                    {name}
                  </TextLink>
                  <Text size="xs" c="dimmed" className="wrapped">
                    {url}
                  </Text>
                </>
              ),
            ],
            [t('Events'), (webhook) => <EventList webhook={webhook} />],
            [t('State'), (webhook) => <PausedTag webhook={webhook} />],
          ]}
        />
      )}
    </ListPage>
  );
}

function NewWebhookDialog({ onClose }: { onClose(): void }) {
  const { collections } = useViewer();
  const make = useChange(MakeWebhook, [WebhooksOfPortal]);
  const collection = collections.find(({ canRead }) => canRead)?.name ?? '';
  const events = [{ collection, operations: ['created', 'updated', 'deleted'], oquery: null }];
  if (make.data) return <WebhookSecret secret={make.data.createWebhook.secret} onClose={onClose} />;
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('New webhook')} closeOnClickOutside={false}>
      <WebhookForm
        values={{ name: '', url: '', events }}
        action={t('Create webhook')}
        of={make}
        onSave={(values) => make.mutate({ data: values })}
      />
    </InputDialog>
  );
}

export type ListedWebhook = WebhooksOfPortalQuery['webhooks'][number];

export type WebhookValues = Pick<ListedWebhook, 'name' | 'url' | 'events'>;

type WatchedEvent = WebhookValues['events'][number] & { readonly key: number };

export interface WebhookFormProps extends Pick<SubmitFormProps, 'action' | 'of' | 'meanwhile'> {
  /** The current values. Untouched inputs follow their changes. */
  readonly values: WebhookValues;
  onSave(values: WebhookValues): void;
}

const OPERATION_LABELS: Readonly<Record<string, string>> = {
  created: phrase('Created'),
  updated: phrase('Changed'),
  deleted: phrase('Removed'),
};

const MOST_EVENTS = 50;

export function WebhookForm({ values, onSave, ...form }: WebhookFormProps) {
  const { collections } = useViewer();
  const readable = collections.filter(({ canRead }) => canRead);
  const [touched, setTouched] = useState<Partial<WebhookValues>>({});
  const { name, url } = { ...values, ...touched };
  const [edited, setEvents] = useState<readonly WatchedEvent[]>();
  const events = edited ?? values.events.map((event, key) => ({ ...event, key }));
  const change = (key: number, next: Partial<WatchedEvent>) =>
    setEvents(events.map((one) => (one.key === key ? { ...one, ...next } : one)));
  const added = {
    key: Math.max(-1, ...events.map((one) => one.key)) + 1,
    collection: readable[0]?.name ?? '',
    operations: ['created', 'updated', 'deleted'],
    oquery: null,
  };
  return (
    <SubmitForm
      {...form}
      isReady={events.length > 0 && events.every(({ operations }) => operations.length > 0)}
      onSubmit={() =>
        onSave({
          ...{ name, url },
          events: events.map(({ key: _key, ...event }) => ({
            ...event,
            oquery: event.oquery?.trim() || null,
          })),
        })
      }
    >
      <TextField
        label={t('Name')}
        required
        maxLength={100}
        value={name}
        onChange={(text) => setTouched({ ...touched, name: text })}
      />
      <TextField
        type="url"
        label={t('Address')}
        description={t('A public address, https or http')}
        placeholder="https://"
        required
        maxLength={2000}
        value={url}
        onChange={(text) => setTouched({ ...touched, url: text })}
      />
      {events.map((event, index) => (
        <Fieldset key={event.key} legend={t('Event {number}', { number: index + 1 })} p="sm">
          <Stack gap="sm">
            <ChoiceField
              label={t('Collection')}
              value={event.collection}
              onChange={(collection) => change(event.key, { collection })}
              data={readable.map((one) => ({ value: one.name, label: one.title }))}
            />
            <Checkbox.Group
              label={t('When a record is')}
              value={[...event.operations]}
              onChange={(operations) => change(event.key, { operations })}
            >
              <Group mt={6}>
                {Object.entries(OPERATION_LABELS).map(([operation, label]) => (
                  <Checkbox key={operation} value={operation} label={t(label)} />
                ))}
              </Group>
            </Checkbox.Group>
            <TextField
              label={t('Only records that match')}
              description={t('An oquery such as class=5. Leave empty for all.')}
              spellCheck={false}
              value={event.oquery ?? ''}
              onChange={(oquery) => change(event.key, { oquery })}
            />
            {events.length > 1 && (
              <TextButton
                label={t('Remove')}
                size="compact-sm"
                className="add-entry"
                aria-label={t('Remove event {number}', { number: index + 1 })}
                onClick={() => setEvents(events.filter(({ key }) => key !== event.key))}
              />
            )}
          </Stack>
        </Fieldset>
      ))}
      {events.length < MOST_EVENTS && (
        <TextButton
          label={t('Add an event')}
          size="compact-sm"
          className="add-entry"
          icon="plus"
          onClick={() => setEvents([...events, added])}
        />
      )}
    </SubmitForm>
  );
}

/** The events of a webhook as text: `Tasks: Created, Changed (status=done)`. */
export function useEventWords(): (event: ListedWebhook['events'][number]) => string {
  const titleOf = useTitleOf();
  return ({ collection, operations, oquery }) => {
    const words = operations.map((operation) => t(OPERATION_LABELS[operation] ?? operation)).join(', ');
    return `${titleOf(collection)}: ${words}${oquery === null ? '' : ` (${oquery})`}`;
  };
}

export function EventList({ webhook }: { readonly webhook: ListedWebhook }) {
  return <PlainList lines={webhook.events.map(useEventWords())} className="wrapped" />;
}

export function PausedTag({ webhook: { isPaused } }: { readonly webhook: ListedWebhook }) {
  return <StateTag state={isPaused ? 'paused' : 'active'}>{isPaused ? t('Paused') : t('Active')}</StateTag>;
}

/** Shows the secret of a webhook after it was created or replaced. */
export function WebhookSecret(props: Pick<SecretDialogProps, 'secret' | 'onClose'>) {
  return (
    <SecretDialog
      title={t('Webhook secret')}
      label={t('Secret')}
      words={t('The receiver uses it to check that a delivery is genuine. It will not be shown again.')}
      {...props}
    />
  );
}
