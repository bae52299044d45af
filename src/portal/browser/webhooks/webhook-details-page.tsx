/** One webhook: its events, deliveries and actions. */
import { Code, Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  ChangeWebhook,
  DeliveriesOfWebhook,
  type DeliveriesOfWebhookQuery,
  RemoveWebhookInPortal,
  ReplayDeliveries,
  ReplayDelivery,
  RotateWebhookSecretInPortal,
  TestWebhookInPortal,
  WebhooksOfPortal,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange, useListedPages, useOperation } from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { ActionButton, ChangeButton, InputDialog, notice, savedOver } from '../shell/confirm-dialog';
import { StateTag, WarningNotice } from '../shell/icon';
import { ActionsHead, choicesOf, ListTable, MoreButton } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { indentJson } from '../shell/read-json';
import { Answered, EmptyState, PageFrame, ProblemState } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';
import {
  EventList,
  type ListedWebhook,
  PausedTag,
  useEventWords,
  WebhookForm,
  WebhookSecret,
} from './webhooks-page';

/** How often to check whether the address answers again. */
const LOOK_EVERY_MS = 15_000;
const OUTDATED = [WebhooksOfPortal, DeliveriesOfWebhook];

export function WebhookDetailsPage() {
  const { webhook: id = '' } = useParams({ strict: false }) as { readonly webhook?: string };
  const answer = useOperation(WebhooksOfPortal, {}, { everyMs: LOOK_EVERY_MS });
  const webhook = answer.data?.webhooks.find((one) => one.id === id);
  const failing = [
    t('It is tried once a minute. As soon as one delivery arrives, all that wait are sent.'),
    t('“Send a test” tries at once.'),
  ].join(' ');
  return (
    <PageFrame
      title={webhook?.name ?? t('Webhook')}
      above={[{ label: t('Webhooks'), to: '/portal/webhooks' }]}
      description={webhook && <Code className="wrapped">{webhook.url}</Code>}
    >
      <Answered of={answer}>
        {() =>
          webhook ? (
            <Stack>
              <Group gap="xs" align="flex-start">
                <PausedTag webhook={webhook} />
                <EventList webhook={webhook} />
              </Group>
              {webhook.isFailing && !webhook.isPaused && (
                <WarningNotice title={t('This address does not answer as it should')}>
                  {failing}
                </WarningNotice>
              )}
              <WebhookActions webhook={webhook} />
              <DeliveryList id={webhook.id} />
            </Stack>
          ) : (
            <EmptyState icon="webhook" title={t('This webhook does not exist')} />
          )
        }
      </Answered>
    </PageFrame>
  );
}

function WebhookActions({ webhook }: { readonly webhook: ListedWebhook }) {
  const navigate = useNavigate();
  const [begun, setBegun] = useState<ListedWebhook>();
  const [secret, setSecret] = useState<string>();
  const test = useChange(TestWebhookInPortal, OUTDATED);
  const { id, name, isPaused } = webhook;
  return (
    <>
      <Group gap="xs">
        <TextButton
          label={t('Send a test')}
          loading={test.isPending}
          onClick={() =>
            test.mutate(
              { id },
              {
                onSuccess: ({ testWebhook: { state, status, problem } }) =>
                  state === 'delivered'
                    ? notice(t('The test was delivered: {status}.', { status }))
                    : notice(
                        t('The test was not delivered: {problem}', { problem: problem ?? status ?? '' }),
                        'failed',
                      ),
              },
            )
          }
        />
        <ActionButton
          label={isPaused ? t('Resume') : t('Pause')}
          change={ChangeWebhook}
          variables={{ id, data: { isPaused: !isPaused }, ifMatch: webhook.etag }}
          outdated={OUTDATED}
          done={() => t('Saved.')}
        />
        <TextButton label={t('Change')} onClick={() => setBegun(webhook)} />
        <ChangeButton
          title={t('A new secret?')}
          action={t('New secret')}
          change={RotateWebhookSecretInPortal}
          variables={{ id }}
          onDone={({ rotateWebhookSecret }) => setSecret(rotateWebhookSecret)}
        >
          {t('The old secret stops signing at once: the receiver needs the new one right away.')}
        </ChangeButton>
        <ChangeButton
          title={t('Remove {name}?', { name })}
          action={t('Remove')}
          isDangerous
          change={RemoveWebhookInPortal}
          variables={{ id }}
          outdated={[WebhooksOfPortal]}
          onDone={() => {
            notice(t('{name} is removed.', { name }));
            void navigate({ to: '/portal/webhooks' });
          }}
        >
          {t('Waiting deliveries are not sent, and its delivery log is deleted.')}
        </ChangeButton>
      </Group>
      {test.error && <ProblemState problem={test.error} />}
      {begun && <ChangeWebhookDialog begun={begun} now={webhook} onClose={() => setBegun(undefined)} />}
      {secret !== undefined && <WebhookSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

interface ChangeWebhookDialogProps {
  /** The webhook when the dialog was opened. */
  readonly begun: ListedWebhook;
  readonly now: ListedWebhook;
  onClose(): void;
}

function ChangeWebhookDialog({ begun, now, onClose }: ChangeWebhookDialogProps) {
  const wordsOf = useEventWords();
  const change = useChange(ChangeWebhook, OUTDATED);
  const { over, theirs } = savedOver(begun, now, change.error);
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('Change the webhook')}>
      <WebhookForm
        values={over}
        action={t('Save')}
        of={change}
        meanwhile={
          theirs && {
            changed: { collection: '$webhook', id: now.id },
            theirs: [
              [t('Name'), theirs.name],
              [t('Address'), theirs.url],
              [t('Events'), theirs.events.map(wordsOf).join('; ')],
              [t('State'), theirs.isPaused ? t('Paused') : t('Active')],
            ],
          }
        }
        onSave={(data) =>
          change.mutate(
            { id: now.id, data, ifMatch: over.etag },
            {
              onSuccess: () => {
                onClose();
                notice(t('Saved.'));
              },
            },
          )
        }
      />
    </InputDialog>
  );
}

type Delivery = DeliveriesOfWebhookQuery['webhookDeliveries']['nodes'][number];

const STATES: Readonly<Record<string, string>> = {
  waiting: phrase('Waiting'),
  delivered: phrase('Delivered'),
  failed: phrase('Failed'),
  skipped: phrase('Skipped'),
};

function DeliveryList({ id }: { readonly id: string }) {
  const [{ state }, change] = useAddress({ state: '' });
  const deliveries = useListedPages(
    DeliveriesOfWebhook,
    (after) => ({ id, ...(state !== '' && { state }), after }),
    ({ webhookDeliveries }) => webhookDeliveries,
  );
  const { data, refetch, isFetching, more } = deliveries;
  return (
    <Stack component="section" gap="sm">
      <Group justify="space-between">
        <Title>{t('Deliveries')}</Title>
        <Group gap="xs">
          <ChoiceField
            aria-label={t('State')}
            value={state}
            onChange={(next) => change({ state: next })}
            data={choicesOf(STATES, t('Any state'))}
          />
          {data?.some((one) => one.problem !== null && one.state !== 'skipped') && (
            // Those that wait may otherwise wait for hours after the address answers again.
            <ActionButton
              label={t('Resend all failed')}
              change={ReplayDeliveries}
              variables={{ id }}
              outdated={[DeliveriesOfWebhook]}
              done={({ replayWebhookDeliveries: count }) =>
                t('{count, plural, one {# delivery is sent again.} other {# deliveries are sent again.}}', {
                  count,
                })
              }
            />
          )}
          <TextButton label={t('Refresh')} loading={isFetching} onClick={() => void refetch()} />
        </Group>
      </Group>
      <Answered
        of={deliveries}
        empty={
          <EmptyState icon="inbox" title={t('No deliveries yet')}>
            {t('Deliveries are kept for a week. Send a test to see whether the address answers.')}
          </EmptyState>
        }
      >
        {(rows) => <DeliveryTable deliveries={rows} />}
      </Answered>
      <MoreButton more={more}>{t('More deliveries')}</MoreButton>
    </Stack>
  );
}

function DeliveryTable({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const [opened, setOpened] = useState('');
  return (
    <ListTable<Delivery>
      label={t('Deliveries')}
      verticalSpacing="xs"
      rows={deliveries}
      detailsOf={(delivery) => delivery.id === opened && <DeliveryDetails delivery={delivery} />}
      columns={[
        [
          <VisuallyHidden key="details">{t('Details')}</VisuallyHidden>,
          (delivery) => (
            <IconButton
              icon={delivery.id === opened ? 'collapse' : 'right'}
              label={t('Details of {event}', { event: wordsOf(delivery) })}
              iconSize={14}
              size="sm"
              aria-expanded={delivery.id === opened}
              onClick={() => setOpened(delivery.id === opened ? '' : delivery.id)}
            />
          ),
        ],
        [t('Time'), ({ createdAt }) => formats.instant(createdAt), 'unbroken'],
        [t('Event'), wordsOf, 'wrapped'],
        [
          t('State'),
          ({ state, attempts, nextAttemptAt }) => (
            <>
              <StateTag state={state}>{t(STATES[state] ?? state)}</StateTag>
              {nextAttemptAt !== null && attempts > 0 && (
                <Text size="xs" c="dimmed">
                  {t('Again {time}', { time: formats.instant(nextAttemptAt) })}
                </Text>
              )}
            </>
          ),
        ],
        [t('Attempts'), ({ attempts }) => attempts, 'numeric'],
        [t('Status'), ({ status }) => status ?? '–', 'numeric'],
        ['ms', ({ durationMs }) => (durationMs === null ? '–' : formats.number(durationMs)), 'numeric'],
        [
          <ActionsHead key="actions" />,
          (delivery) => (
            <ActionButton
              label={t('Send again')}
              size="compact-sm"
              aria-label={t('Send again: {event}', { event: wordsOf(delivery) })}
              change={ReplayDelivery}
              variables={{ id: delivery.id }}
              outdated={[DeliveriesOfWebhook]}
              done={() => t('Sending it again.')}
            />
          ),
        ],
      ]}
    />
  );
}

/** Shows the stored body, or the answer of the receiver, as text. */
function DeliveryDetails({ delivery: { problem, body, answer } }: { readonly delivery: Delivery }) {
  return (
    <Stack gap="sm">
      {problem !== null && <Text className="wrapped">{problem}</Text>}
      <Text fw={600}>{t('Sent')}</Text>
      <Code block className="wrapped">
        {body === null ? t('Nothing yet') : (indentJson(body) ?? body)}
      </Code>
      <Text fw={600}>{t('Answered')}</Text>
      <Code block className="wrapped">
        {answer ?? t('Nothing')}
      </Code>
    </Stack>
  );
}

function wordsOf({ event }: Delivery): string {
  const { type, collection, recordId } = event as Readonly<Record<string, string | undefined>>;
  return [type, collection, recordId].filter(Boolean).join(' ');
}
