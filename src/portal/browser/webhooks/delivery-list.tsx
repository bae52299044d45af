/** The deliveries of a webhook, sent and waiting, with the answers. */
import { Code, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import {
  DeliveriesOfWebhook,
  type DeliveriesOfWebhookQuery,
  ReplayDeliveries,
  ReplayDelivery,
} from '../../../generated/portal/webhooks/webhooks';
import { useChange } from '../gateway/use-gateway';
import { useListedPages } from '../gateway/use-listed-pages';
import { ProblemWords } from '../language/problem-words';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { Answered } from '../shell/answered';
import { useNotice } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { choicesOf, MoreButton } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { EmptyState } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';

type Delivery = DeliveriesOfWebhookQuery['webhookDeliveries']['nodes'][number];

const STATES: Readonly<Record<string, string>> = {
  waiting: phrase('Waiting'),
  delivered: phrase('Delivered'),
  failed: phrase('Failed'),
  skipped: phrase('Skipped'),
};

export function DeliveryList({ id }: { readonly id: string }) {
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
      <Answered of={deliveries}>
        {(rows) =>
          rows.length > 0 ? (
            <DeliveryTable deliveries={rows} />
          ) : (
            <EmptyState icon="inbox" title={t('No deliveries yet')}>
              {t('Deliveries are kept for a week. Send a test to see whether the address answers.')}
            </EmptyState>
          )
        }
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
