/** One webhook: its events, deliveries and actions. */
import { Code, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useId, useState } from 'react';
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
import { ProblemWords } from '../language/problem-words';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { ChangeButton, ChangedMeanwhile, InputDialog, savedOver, useNotice } from '../shell/confirm-dialog';
import { StateTag, WarningNotice } from '../shell/icon';
import { choicesOf, MoreButton } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame, ProblemState } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import {
  EventList,
  type ListedWebhook,
  PausedTag,
  useEventWords,
  WebhookForm,
  WebhookSecret,
} from './webhook-form';

/** How often to check whether the address answers again. */
const LOOK_EVERY_MS = 15_000;
const OUTDATED = [WebhooksOfPortal, DeliveriesOfWebhook];

export function WebhookDetailsPage() {
  const t = useTexts();
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
            <EmptyState icon="webhook" title={t('There is no such webhook')} />
          )
        }
      </Answered>
    </PageFrame>
  );
}

function WebhookActions({ webhook }: { readonly webhook: ListedWebhook }) {
  const t = useTexts();
  const notice = useNotice();
  const navigate = useNavigate();
  const [begun, setBegun] = useState<ListedWebhook>();
  const [secret, setSecret] = useState<string>();
  const pause = useChange(ChangeWebhook, OUTDATED);
  const test = useChange(TestWebhookInPortal, OUTDATED);
  const { id, name, isPaused } = webhook;
  const problem = test.error ?? pause.error;
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
        <TextButton
          label={isPaused ? t('Resume') : t('Pause')}
          loading={pause.isPending}
          onClick={() =>
            pause.mutate(
              { id, data: { isPaused: !isPaused }, ifMatch: webhook.etag },
              { onSuccess: () => notice(t('Saved.')) },
            )
          }
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
      {problem && <ProblemState problem={problem} />}
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
  const t = useTexts();
  const notice = useNotice();
  const wordsOf = useEventWords();
  const { mutate, error, isPending } = useChange(ChangeWebhook, OUTDATED);
  const { over, theirs } = savedOver(begun, now, error);
  return (
    <InputDialog opened size="lg" onClose={onClose} title={t('Change the webhook')}>
      <WebhookForm
        values={over}
        action={t('Save')}
        isBusy={isPending}
        problem={theirs ? null : error}
        onSave={(data) =>
          mutate(
            { id: now.id, data, ifMatch: over.etag },
            {
              onSuccess: () => {
                onClose();
                notice(t('Saved.'));
              },
            },
          )
        }
      >
        {theirs && (
          <ChangedMeanwhile
            changed={{ collection: '$webhook', id: now.id }}
            theirs={[
              [t('Name'), theirs.name],
              [t('Address'), theirs.url],
              [t('Events'), theirs.events.map(wordsOf).join('; ')],
              [t('State'), theirs.isPaused ? t('Paused') : t('Active')],
            ]}
          />
        )}
      </WebhookForm>
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
  const t = useTexts();
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
          <NativeSelect
            aria-label={t('State')}
            value={state}
            onChange={({ currentTarget }) => change({ state: currentTarget.value })}
            data={choicesOf(t, STATES, t('Any state'))}
          />
          {data?.some((one) => one.problem !== null && one.state !== 'skipped') && (
            <ReplayAllButton id={id} />
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

/** Sends all waiting deliveries, which may otherwise wait for hours after the address answers again. */
function ReplayAllButton({ id }: { readonly id: string }) {
  const t = useTexts();
  const notice = useNotice();
  const replay = useChange(ReplayDeliveries, [DeliveriesOfWebhook]);
  return (
    <TextButton
      label={t('Resend all failed')}
      loading={replay.isPending}
      onClick={() =>
        replay.mutate(
          { id },
          {
            onSuccess: ({ replayWebhookDeliveries: count }) =>
              notice(
                t('{count, plural, one {# delivery is sent again.} other {# deliveries are sent again.}}', {
                  count,
                }),
              ),
            onError: ({ message }) => notice(<ProblemWords text={message} />, 'failed'),
          },
        )
      }
    />
  );
}

function DeliveryTable({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const t = useTexts();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard.
    <section className="table-scroll" tabIndex={0} aria-label={t('Deliveries')}>
      <Table className="stacked-table" verticalSpacing="xs" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>
              <span className="visually-hidden">{t('Details')}</span>
            </Table.Th>
            <Table.Th>{t('Time')}</Table.Th>
            <Table.Th>{t('Event')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th className="numeric">{t('Attempts')}</Table.Th>
            <Table.Th className="numeric">{t('Status')}</Table.Th>
            <Table.Th className="numeric">ms</Table.Th>
            <Table.Th>{t('Actions')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <DeliveryRows key={delivery.id} delivery={delivery} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function DeliveryRows({ delivery }: { readonly delivery: Delivery }) {
  const t = useTexts();
  const details = useId();
  const notice = useNotice();
  const { instant, number } = useFormats();
  const [isOpen, setOpen] = useState(false);
  const replay = useChange(ReplayDelivery, [DeliveriesOfWebhook]);
  const { id, state, attempts, status, durationMs, createdAt, nextAttemptAt } = delivery;
  const event = wordsOf(delivery);
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <IconButton
            icon={isOpen ? 'collapse' : 'right'}
            label={t('Details of {event}', { event })}
            iconSize={14}
            size="sm"
            aria-expanded={isOpen}
            aria-controls={details}
            onClick={() => setOpen(!isOpen)}
          />
        </Table.Td>
        <Table.Td className="unbroken" data-label={t('Time')}>
          {instant(createdAt)}
        </Table.Td>
        <Table.Td className="wrapped" data-label={t('Event')}>
          {event}
        </Table.Td>
        <Table.Td data-label={t('State')}>
          <StateTag state={state}>{t(STATES[state] ?? state)}</StateTag>
          {nextAttemptAt !== null && attempts > 0 && (
            <Text size="xs" c="dimmed">
              {t('Again {time}', { time: instant(nextAttemptAt) })}
            </Text>
          )}
        </Table.Td>
        <Table.Td className="numeric" data-label={t('Attempts')}>
          {attempts}
        </Table.Td>
        <Table.Td className="numeric" data-label={t('Status')}>
          {status ?? '–'}
        </Table.Td>
        <Table.Td className="numeric" data-label="ms">
          {durationMs === null ? '–' : number(durationMs)}
        </Table.Td>
        <Table.Td>
          <TextButton
            label={t('Send again')}
            size="compact-sm"
            loading={replay.isPending}
            aria-label={t('Send again: {event}', { event })}
            onClick={() =>
              replay.mutate(
                { id },
                {
                  onSuccess: () => notice(t('Sending it again.')),
                  onError: ({ message }) => notice(<ProblemWords text={message} />, 'failed'),
                },
              )
            }
          />
        </Table.Td>
      </Table.Tr>
      <Table.Tr id={details} hidden={!isOpen}>
        <Table.Td colSpan={8}>{isOpen && <DeliveryDetails delivery={delivery} />}</Table.Td>
      </Table.Tr>
    </>
  );
}

/** Shows the stored body, or the answer of the receiver, as text. */
function DeliveryDetails({ delivery: { problem, body, answer } }: { readonly delivery: Delivery }) {
  const t = useTexts();
  return (
    <Stack gap="sm">
      {problem !== null && <Text className="wrapped">{problem}</Text>}
      <Text fw={600}>{t('Sent')}</Text>
      <Code block className="wrapped">
        {body === null ? t('Nothing yet') : indented(body)}
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

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
