/** The open tasks of the viewer, with links, above the figures of the day. */
import { Card, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  CollectedOnDay,
  FailedMessages,
  LeaveToDecide,
  PresentOnDay,
} from '../../../generated/portal/home/home';
import { ActButtons } from '../acts/act-buttons';
import { useActs } from '../acts/acts';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { dayBefore } from '../language/days';
import { t } from '../language/texts';
import { useSheets } from '../sheets/use-sheets';
import { TextLink } from '../shell/text-button';
import { useDaySources } from './day-tiles';

interface WaitingThing {
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
  readonly text: ReactNode;
}

const MOST_SECTIONS = 8;
const FAILED_DAYS = 7;

export function ActHere({ day }: { readonly day: string }) {
  const acts = useActs({ home: true });
  const waiting = useWaitingThings(day);
  if (waiting.length === 0 && acts.length === 0) return null;
  return (
    <Card component="section" withBorder padding="md" mb="md" className="no-print" aria-label={t('Act here')}>
      <Text component="h2" fw={600} mb="xs">
        {t('Act here')}
      </Text>
      {waiting.length > 0 && (
        <ul className="plain-list shortcut-list">
          {waiting.map(({ to, search, text }) => (
            <li key={`${to} ${JSON.stringify(search)}`}>
              <TextLink to={to} search={search}>
                {text}
              </TextLink>
            </li>
          ))}
        </ul>
      )}
      {acts.length > 0 && (
        <Group gap="xs" mt={waiting.length > 0 ? 'sm' : 0}>
          <ActButtons place={{ home: true }} />
        </Group>
      )}
    </Card>
  );
}

/** The operations are those of the tiles below, so that only failed messages cost a request of their own. */
function useWaitingThings(day: string): readonly WaitingThing[] {
  const { duties } = useViewer();
  const marksAttendance = useSheets().some(({ name }) => name === 'attendance');
  const { present, leave, collected } = useDaySources(day);
  const before = dayBefore(day, -1);
  const marked = useOperation(PresentOnDay, { date: day }, { isEnabled: marksAttendance && !!present });
  const requests = useOperation(LeaveToDecide, { before }, { isEnabled: leave !== undefined });
  const receipts = useOperation(CollectedOnDay, { day }, { isEnabled: collected !== undefined });
  const failed = useOperation(
    FailedMessages,
    { from: `${dayBefore(day, FAILED_DAYS)}T00:00:00.000Z` },
    { isEnabled: duties.includes('messages') },
  );
  const totals = marked.data?.daySheet.totals;
  const unmarked = totals?.isSchoolDay === false ? [] : (totals?.unmarked ?? []);
  const count = unmarked.length - MOST_SECTIONS;
  const counted = (answer: { nodes: readonly unknown[]; pageInfo: { hasNextPage: boolean } } | undefined) =>
    answer?.nodes.length ? `${answer.nodes.length}${answer.pageInfo.hasNextPage ? '+' : ''}` : '';
  const [leaves, failures] = [counted(requests.data?.records), counted(failed.data?.messages)];
  const missing = receipts.data?.dailyFeeCollection.totals.missingReceiptNumbers ?? [];
  const sheet = '/portal/sheets/attendance';
  const things: readonly (WaitingThing | '' | false | undefined)[] = [
    ...unmarked.slice(0, MOST_SECTIONS).map((one) => ({
      to: sheet,
      search: { set: `${one.class}|${one.section}`, day },
      text: t('Take the attendance of {section}', { section: `${one.class} ${one.section}` }),
    })),
    count > 0 && {
      ...{ to: sheet, search: { day } },
      text: t('{count, number} more sections have no attendance', { count }),
    },
    leaves && leave && { ...leave, text: t('Decide on leave: {count} waiting', { count: leaves }) },
    failures && {
      ...{ to: '/portal/messages', search: { state: 'FAILED' } },
      text: t('{count} messages failed', { count: failures }),
    },
    missing.length > 0 &&
      collected && {
        ...collected,
        text: t('Missing receipt numbers: {numbers}', { numbers: missing.slice(0, 5).join(', ') }),
      },
  ];
  return things.filter((one) => one !== undefined && one !== false && one !== '');
}
