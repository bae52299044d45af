/** The address and events of a new or an existing webhook. */
import { Button, Checkbox, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { WebhooksOfPortalQuery } from '../../../generated/portal/webhooks/webhooks';
import { useViewer } from '../gateway/use-gateway';
import { phrase, useTexts } from '../language/use-texts';
import { SecretOnce, type SecretOnceProps } from '../shell/code-to-copy';
import { Icon } from '../shell/icon';
import { ProblemState } from '../shell/states';

type Webhook = WebhooksOfPortalQuery['webhooks'][number];

export type WebhookValues = Pick<Webhook, 'name' | 'url' | 'events'>;

type WatchedEvent = WebhookValues['events'][number] & { readonly key: number };

export interface WebhookFormProps {
  /** The current values. Untouched inputs follow their changes. */
  readonly values: WebhookValues;
  /** The label of the button. */
  readonly action: string;
  readonly isBusy: boolean;
  readonly problem: Error | null;
  onSave(values: WebhookValues): void;
  /** A notice above the button. */
  readonly children?: ReactNode;
}

interface Touched {
  readonly name?: string;
  readonly url?: string;
  readonly events?: readonly WatchedEvent[];
}

const OPERATION_LABELS: Readonly<Record<string, string>> = {
  created: phrase('Created'),
  updated: phrase('Changed'),
  deleted: phrase('Removed'),
};

const MOST_EVENTS = 50;

export function WebhookForm({ values, action, isBusy, problem, onSave, children }: WebhookFormProps) {
  const t = useTexts();
  const { collections } = useViewer();
  const readable = collections.filter(({ canRead }) => canRead);
  const [touched, setTouched] = useState<Touched>({});
  const touch = (more: Touched) => setTouched((before) => ({ ...before, ...more }));
  const { name = values.name, url = values.url } = touched;
  const events = touched.events ?? values.events.map((event, key) => ({ ...event, key }));
  const setEvents = (next: readonly WatchedEvent[]) => touch({ events: next });
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    onSave({
      name,
      url,
      events: events.map(({ collection, operations, oquery }) => ({
        collection,
        operations,
        oquery: oquery?.trim() ? oquery.trim() : null,
      })),
    });
  };
  const change = (key: number, next: Partial<WatchedEvent>) =>
    setEvents(events.map((one) => (one.key === key ? { ...one, ...next } : one)));
  const add = () =>
    setEvents([
      ...events,
      {
        key: Math.max(-1, ...events.map((one) => one.key)) + 1,
        collection: readable[0]?.name ?? '',
        operations: ['created', 'updated', 'deleted'],
        oquery: null,
      },
    ]);
  const isComplete = events.length > 0 && events.every(({ operations }) => operations.length > 0);
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t('Name')}
          required
          maxLength={100}
          value={name}
          onChange={({ currentTarget }) => touch({ name: currentTarget.value })}
        />
        <TextInput
          type="url"
          label={t('Address')}
          description={t('A public address, https or http')}
          placeholder="https://"
          required
          maxLength={2000}
          value={url}
          onChange={({ currentTarget }) => touch({ url: currentTarget.value })}
        />
        {events.map((event, index) => (
          <Fieldset key={event.key} legend={t('Event {number}', { number: index + 1 })} p="sm">
            <Stack gap="sm">
              <NativeSelect
                label={t('Collection')}
                value={event.collection}
                onChange={({ currentTarget }) => change(event.key, { collection: currentTarget.value })}
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
              <TextInput
                label={t('Only records that match')}
                description={t('An oquery such as class=5. Leave empty for all.')}
                spellCheck={false}
                value={event.oquery ?? ''}
                onChange={({ currentTarget }) => change(event.key, { oquery: currentTarget.value })}
              />
              {events.length > 1 && (
                <Button
                  variant="default"
                  size="compact-sm"
                  className="add-entry"
                  aria-label={t('Remove event {number}', { number: index + 1 })}
                  onClick={() => setEvents(events.filter(({ key }) => key !== event.key))}
                >
                  {t('Remove')}
                </Button>
              )}
            </Stack>
          </Fieldset>
        ))}
        {events.length < MOST_EVENTS && (
          <Button
            variant="default"
            size="compact-sm"
            className="add-entry"
            leftSection={<Icon name="plus" size={14} />}
            onClick={add}
          >
            {t('Add an event')}
          </Button>
        )}
        {children}
        {problem && <ProblemState problem={problem} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} disabled={!isComplete}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type WebhookEvent = WebhooksOfPortalQuery['webhooks'][number]['events'][number];

/** The events of a webhook as text: `Tasks: Created, Changed (status=done)`. */
export function useEventWords(): (event: WebhookEvent) => string {
  const t = useTexts();
  const { collections } = useViewer();
  return ({ collection, operations, oquery }) => {
    const title = collections.find(({ name }) => name === collection)?.title ?? collection;
    const words = operations.map((operation) => t(OPERATION_LABELS[operation] ?? operation)).join(', ');
    return `${title}: ${words}${oquery === null ? '' : ` (${oquery})`}`;
  };
}

/** Shows the secret of a webhook after it was created or replaced. */
export function WebhookSecret(props: Pick<SecretOnceProps, 'secret' | 'onClose'>) {
  const t = useTexts();
  return (
    <SecretOnce
      title={t('Secret')}
      words={t('The receiver uses it to check that a delivery is genuine. It will not be shown again.')}
      {...props}
    />
  );
}
