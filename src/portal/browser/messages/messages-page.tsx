/** Emails and text messages: waiting, failed and sent. */
import { Anchor, Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  MessagesOfPortal,
  type MessagesOfPortalQueryVariables,
} from '../../../generated/portal/messages/messages';
import { useGateway } from '../gateway/use-gateway';
import { dayAfter } from '../language/days';
import { useFormats, useTexts } from '../language/use-texts';
import { StateTag } from '../shell/icon';
import { isFiltering, useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { useUserNames } from '../shell/use-record-labels';
import { type VirtualColumn, VirtualTable, type VirtualTableProps } from '../shell/virtual-table';
import { MessageDialog } from './message-dialog';
import {
  type ListedMessage,
  labelOfMessage,
  MESSAGE_KIND_NAMES,
  MESSAGE_STATE_NAMES,
  MessagesFilter,
  type MessagesFilterState,
  NO_MESSAGES_FILTER,
} from './messages-filter';

const PAGE_SIZE = 100;

export function MessagesPage() {
  const t = useTexts();
  const gateway = useGateway();
  const [filter, change] = useAddress(NO_MESSAGES_FILTER);
  const [opened, setOpened] = useState<string>();
  const asked = toAsked(filter);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } =
    useInfiniteQuery({
      queryKey: [MessagesOfPortal.name, asked],
      queryFn: ({ pageParam, signal }) =>
        gateway.execute(MessagesOfPortal, { ...asked, after: pageParam }, signal),
      initialPageParam: null as string | null,
      getNextPageParam: ({ messages: { pageInfo } }) =>
        pageInfo.hasNextPage ? pageInfo.endCursor : undefined,
    });
  const rows = data?.pages.flatMap(({ messages }) => messages.nodes) ?? [];
  const message = rows.find(({ id }) => id === opened);
  return (
    <PageFrame
      title={t('Messages')}
      description={t('Emails and text messages, and whether they were delivered')}
      actions={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          {t('Refresh')}
        </Button>
      }
    >
      <MessagesFilter filter={filter} onChange={change} />
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && !data && <LoadingState rows={12} />}
      {data && rows.length === 0 && (
        <EmptyState
          icon="mail"
          title={isFiltering(filter) ? t('No messages match the filter') : t('No messages yet')}
        >
          {t('Sent and failed messages are kept for a limited time.')}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <MessagesTable
          rows={rows}
          more={{ isThere: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() }}
          onOpen={setOpened}
        />
      )}
      {message && <MessageDialog message={message} onClose={() => setOpened(undefined)} />}
    </PageFrame>
  );
}

/** The gateway reads a bare day as its midnight in the time zone of the school. */
function toAsked({ recipient, from, until, ...others }: MessagesFilterState): MessagesOfPortalQueryVariables {
  const chosen = Object.entries(others).filter(([, value]) => value !== '');
  return {
    first: PAGE_SIZE,
    ...Object.fromEntries(chosen),
    ...(recipient.trim() !== '' && { recipient: recipient.trim() }),
    ...(from !== '' && { from }),
    ...(until !== '' && { until: dayAfter(until) }),
  };
}

interface MessagesTableProps extends Pick<VirtualTableProps<ListedMessage>, 'rows' | 'more'> {
  onOpen(id: string): void;
}

function MessagesTable({ rows, more, onOpen }: MessagesTableProps) {
  const t = useTexts();
  const { instant, number } = useFormats();
  const nameOf = useUserNames(rows.map(({ createdBy }) => createdBy));
  const plain = (
    name: string,
    head: string,
    width: number,
    text: (row: ListedMessage) => string,
  ): VirtualColumn<ListedMessage> => ({ name, head, width, cell: text, title: text });
  const columns: readonly VirtualColumn<ListedMessage>[] = [
    {
      name: 'message',
      head: t('Message'),
      width: 235,
      title: labelOfMessage,
      cell: (row) => (
        <Anchor component="button" type="button" size="sm" truncate maw="100%" onClick={() => onOpen(row.id)}>
          {labelOfMessage(row) || t('Without a subject')}
        </Anchor>
      ),
    },
    {
      name: 'state',
      head: t('State'),
      width: 110,
      cell: ({ state }) => <StateTag state={state}>{t(MESSAGE_STATE_NAMES[state] ?? state)}</StateTag>,
    },
    plain('recipients', t('To'), 185, ({ recipients }) => recipients.join(', ')),
    plain('createdAt', t('Requested'), 200, ({ createdAt }) => instant(createdAt)),
    {
      ...plain('kind', t('Channel'), 105, ({ kind }) => t(MESSAGE_KIND_NAMES[kind] ?? kind)),
      isExtra: true,
    },
    {
      ...plain('attempts', t('Attempts'), 105, ({ attempts }) => number(attempts)),
      isNumeric: true,
      isExtra: true,
    },
    { ...plain('lastError', t('Reason'), 185, ({ lastError }) => lastError ?? ''), isExtra: true },
    { ...plain('createdBy', t('Requested by'), 150, ({ createdBy }) => nameOf(createdBy)), isExtra: true },
  ];
  return (
    <VirtualTable
      label={t('Messages')}
      {...{ columns, rows, more }}
      total={t('{count, plural, one {# message} other {# messages}}', { count: rows.length })}
    />
  );
}
