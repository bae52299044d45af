/** Emails and text messages: waiting, failed and sent. */

import { Anchor } from '@mantine/core';
import { useState } from 'react';
import { MessagesOfPortal } from '../../../generated/portal/messages/messages';
import { useListedPages } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { DayInput } from '../shell/day-input';
import { StateTag } from '../shell/icon';
import { choicesOf } from '../shell/list-table';
import { isFiltering, PageFilter, setConditions, useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField, TextField } from '../shell/text-field';
import { useUserNames } from '../shell/use-record-labels';
import { textColumn, type VirtualColumn, VirtualTable, type VirtualTableProps } from '../shell/virtual-table';
import {
  type ListedMessage,
  labelOfMessage,
  MESSAGE_KIND_NAMES,
  MESSAGE_STATE_NAMES,
  MessageDialog,
} from './message-dialog';

const PAGE_SIZE = 100;
/** The filter as in the address. '' means no condition. */
const NO_FILTER = { kind: '', state: '', recipient: '', from: '', until: '' };

export function MessagesPage() {
  const [filter, change, field] = useAddress(NO_FILTER);
  const [opened, setOpened] = useState<string>();
  const messages = useListedPages(
    MessagesOfPortal,
    (after) => ({ ...setConditions(filter), first: PAGE_SIZE, after }),
    (result) => result.messages,
  );
  const message = messages.data?.find(({ id }) => id === opened);
  return (
    <PageFrame
      title={t('Messages')}
      description={t('Emails and text messages, and whether they were delivered')}
      actions={
        <TextButton
          label={t('Refresh')}
          loading={messages.isFetching}
          onClick={() => void messages.refetch()}
        />
      }
    >
      <PageFilter isSet={isFiltering(filter)} onClear={() => change(NO_FILTER)}>
        <ChoiceField
          label={t('State')}
          {...field('state')}
          data={choicesOf(MESSAGE_STATE_NAMES, t('Any state'))}
        />
        <ChoiceField
          label={t('Channel')}
          {...field('kind')}
          data={choicesOf(MESSAGE_KIND_NAMES, t('Any channel'))}
        />
        <TextField label={t('Address or number')} placeholder="asha@example.org" {...field('recipient')} />
        <DayInput label={t('From')} {...field('from')} />
        <DayInput label={t('Until')} {...field('until')} />
      </PageFilter>
      <Answered
        of={messages}
        rows={12}
        empty={
          <EmptyState
            icon="mail"
            title={isFiltering(filter) ? t('No messages match the filter') : t('No messages yet')}
          >
            {t('Sent and failed messages are kept for a limited time.')}
          </EmptyState>
        }
      >
        {(rows) => <MessagesTable rows={rows} more={messages.more} onOpen={setOpened} />}
      </Answered>
      {message && <MessageDialog message={message} onClose={() => setOpened(undefined)} />}
    </PageFrame>
  );
}

interface MessagesTableProps extends Pick<VirtualTableProps<ListedMessage>, 'rows' | 'more'> {
  onOpen(id: string): void;
}

function MessagesTable({ rows, more, onOpen }: MessagesTableProps) {
  const nameOf = useUserNames(rows.map(({ createdBy }) => createdBy));
  const columns: readonly VirtualColumn<ListedMessage>[] = [
    {
      name: 'message',
      head: t('Message'),
      width: 235,
      title: labelOfMessage,
      cell: (row) => (
        <Anchor component="button" type="button" truncate maw="100%" onClick={() => onOpen(row.id)}>
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
    textColumn('recipients', t('To'), 185, ({ recipients }) => recipients.join(', ')),
    textColumn('createdAt', t('Requested'), 200, ({ createdAt }) => formats.instant(createdAt)),
    textColumn('kind', t('Channel'), 105, ({ kind }) => t(MESSAGE_KIND_NAMES[kind] ?? kind), 'extra'),
    textColumn('attempts', t('Attempts'), 105, ({ attempts }) => formats.number(attempts), 'numeric extra'),
    textColumn('lastError', t('Reason'), 185, ({ lastError }) => lastError ?? '', 'extra'),
    textColumn('createdBy', t('Requested by'), 150, ({ createdBy }) => nameOf(createdBy), 'extra'),
  ];
  return (
    <VirtualTable
      label={t('Messages')}
      {...{ columns, rows, more }}
      total={t('{count, plural, one {# message} other {# messages}}', { count: rows.length })}
    />
  );
}
