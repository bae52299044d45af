/** The audit trail: all changes in the school, the newest first, with links to the history of the records. */

import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { printCsvLine } from '../../../base/tables/csv-line.js';
import {
  AuditOfSchool,
  type AuditOfSchoolQuery,
  type AuditOfSchoolQueryVariables,
  AuditUsers,
} from '../../../generated/portal/audit/audit';
import {
  pageOf,
  saveFile,
  useGateway,
  useListedPages,
  useOperation,
  useViewer,
} from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { notice } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { StateTag } from '../shell/icon';
import { choicesOf } from '../shell/list-table';
import { isFiltering, PageFilter, setConditions, useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { searchOf, TextButton } from '../shell/text-button';
import { ChoiceField, TextField } from '../shell/text-field';
import { CREDENTIAL_NAMES, useUserNames } from '../shell/use-record-labels';
import { type MoreRows, textColumn, type VirtualColumn, VirtualTable } from '../shell/virtual-table';

const PAGE_SIZE = 100;

export function AuditPage() {
  const [filter] = useAddress(NO_AUDIT_FILTER);
  const asked: AskedChanges = setConditions(filter);
  const changes = useListedPages(
    AuditOfSchool,
    (before) => ({ ...asked, first: PAGE_SIZE, before }),
    ({ auditTrail }) => pageOf(auditTrail, PAGE_SIZE),
  );
  return (
    <PageFrame
      title={t('Audit')}
      description={t('Every change in the school: who made it, when and how')}
      actions={<AuditExport asked={asked} />}
    >
      <AuditFilter />
      <Answered
        of={changes}
        rows={12}
        empty={
          <EmptyState
            icon="history"
            title={isFiltering(filter) ? t('No changes match the filter') : t('No changes yet')}
          />
        }
      >
        {(rows) => <ChangesTable rows={rows} more={changes.more} />}
      </Answered>
    </PageFrame>
  );
}

function ChangesTable({ rows, more }: { readonly rows: readonly ListedChange[]; readonly more: MoreRows }) {
  const { collections } = useViewer();
  const nameOf = useUserNames(rows.map(({ principal }) => principal));
  const titles = new Map([
    ...collections.map(({ name, title }) => [name, title] as const),
    ...Object.entries(AUDITED_SUBJECTS).map(([subject, [name]]) => [subject, t(name)] as const),
  ]);
  const versionText = (version: number) => (version === 0 ? '–' : formats.number(version));
  const credentialText = (credential: string) => {
    const [kind = '', id = ''] = credential.split(/:(.*)/);
    const name = t(CREDENTIAL_NAMES[kind] ?? kind);
    // A session has no name, and a task of the gateway is who made the change.
    return kind === 'key' || kind === 'address' ? `${name} ${id}` : name;
  };
  const columns: readonly VirtualColumn<ListedChange>[] = [
    textColumn('at', t('When'), 200, ({ at }) => formats.instant(at)),
    textColumn('principal', t('Who'), 165, ({ principal }) => nameOf(principal)),
    {
      name: 'operation',
      head: t('What'),
      width: 110,
      cell: ({ operation }) => (
        <StateTag state={operation}>{t(OPERATION_NAMES[operation] ?? operation)}</StateTag>
      ),
    },
    textColumn('collection', t('Collection'), 140, ({ collection }) => titles.get(collection) ?? collection),
    {
      name: 'record',
      head: t('Record'),
      width: 165,
      title: ({ recordId }) => recordId,
      cell: ({ collection, recordId }) => <ChangedLink collection={collection} id={recordId} />,
    },
    textColumn('version', t('Version'), 90, ({ toVersion }) => versionText(toVersion), 'numeric extra'),
    textColumn('credential', t('Credential'), 150, ({ credential }) => credentialText(credential), 'extra'),
    textColumn('request', t('Operation'), 150, ({ requestOperation }) => requestOperation ?? '', 'extra'),
    textColumn('requestId', t('Request'), 130, ({ requestId }) => requestId, 'extra'),
  ];
  return (
    <VirtualTable
      label={t('Audit')}
      {...{ columns, rows, more }}
      total={t('{count, plural, one {# change} other {# changes}}', { count: rows.length })}
    />
  );
}

/** Links to the history of a record, or to the page of another changed object. */
function ChangedLink({ collection, id }: { readonly collection: string; readonly id: string }) {
  const [subject, page] = AUDITED_SUBJECTS[collection] ?? [];
  if (page) return <Link to={page + encodeURIComponent(id)}>{id}</Link>;
  if (subject) return id;
  return (
    <Link
      to={`/portal/records/${collection}/${encodeURIComponent(id)}`}
      search={searchOf({ tab: 'history' })}
    >
      {id}
    </Link>
  );
}

/** The limit of an export, because the browser assembles the file in memory. */
const MOST_EXPORTED = 50_000;
const READ_AT_ONCE = 1_000;

const HEADINGS: readonly (keyof ListedChange)[] = [
  ...(['id', 'at', 'principal', 'credential', 'operation', 'collection', 'recordId', 'toVersion'] as const),
  ...(['requestOperation', 'requestId'] as const),
];

function AuditExport({ asked }: { readonly asked: AskedChanges }) {
  const gateway = useGateway();
  const { mutate, isPending } = useMutation({
    mutationFn: async () => {
      const parts = [printCsvLine([...HEADINGS])];
      let count = 0;
      for (let before: string | null = null; count < MOST_EXPORTED; ) {
        const page: AuditOfSchoolQueryVariables = { ...asked, first: READ_AT_ONCE, before };
        const { auditTrail: changes } = await gateway.execute(AuditOfSchool, page);
        const cellsOf = (one: ListedChange) => HEADINGS.map((name) => one[name]?.toString() ?? null);
        parts.push(changes.map((one) => printCsvLine(cellsOf(one))).join(''));
        count += changes.length;
        before = changes.at(-1)?.id ?? null;
        if (changes.length < READ_AT_ONCE) break;
      }
      saveFile(new Blob(parts, { type: 'text/csv' }), 'audit.csv');
      return count;
    },
    onSuccess: (count) => {
      if (count < MOST_EXPORTED) return;
      notice(
        t('The file has the newest {count}. Filter by date to get the rest.', {
          count: formats.number(count),
        }),
      );
    },
  });
  return (
    <TextButton label={t('Download CSV')} icon="download" loading={isPending} onClick={() => mutate()} />
  );
}

/** The filter as in the address. '' means no condition. */
const NO_AUDIT_FILTER = {
  principal: '',
  operation: '',
  collection: '',
  recordId: '',
  credential: '',
  requestId: '',
  from: '',
  until: '',
};

const OPERATION_NAMES: Readonly<Record<string, string>> = {
  created: phrase('Created'),
  updated: phrase('Changed'),
  deleted: phrase('Removed'),
  exported: phrase('Exported as a person’s data'),
  erased: phrase('Erased as a person’s data'),
  rotated: phrase('Rotated'),
  revoked: phrase('Ended'),
  refused: phrase('Log-in refused'),
  unlocked: phrase('Unlocked'),
};

/** Rarely used conditions. They are shown on request, and while they are set. */
const RARE = ['credential', 'recordId', 'requestId'] as const;

function AuditFilter() {
  const [filter, change, field] = useAddress(NO_AUDIT_FILTER);
  const { collections } = useViewer();
  const [isMoreWanted, setIsMoreWanted] = useState(false);
  const isMore = isMoreWanted || RARE.some((name) => filter[name] !== '');
  return (
    <PageFilter isSet={isFiltering(filter)} onClear={() => change(NO_AUDIT_FILTER)}>
      <UserSelect {...field('principal')} />
      <ChoiceField label={t('What')} {...field('operation')} data={choicesOf(OPERATION_NAMES, t('All'))} />
      <ChoiceField
        label={t('Collection')}
        {...field('collection')}
        data={[
          { value: '', label: t('All collections') },
          ...collections.map(({ name, title }) => ({ value: name, label: title })),
          ...Object.entries(AUDITED_SUBJECTS).map(([value, [name]]) => ({ value, label: t(name) })),
        ]}
      />
      <DayInput label={t('From')} {...field('from')} />
      <DayInput label={t('Until')} {...field('until')} />
      <TextButton
        label={t('More filters')}
        aria-expanded={isMore}
        onClick={() => setIsMoreWanted(!isMoreWanted)}
      />
      {isMore && (
        <>
          <ChoiceField
            label={t('Credential')}
            {...field('credential')}
            data={choicesOf(CREDENTIAL_NAMES, t('Any'))}
          />
          <TextField label={t('Record')} placeholder="_id" {...field('recordId')} />
          <TextField label={t('Request')} {...field('requestId')} />
        </>
      )}
    </PageFilter>
  );
}

/** A school may have many users, so they are searched by a part of the name. */
function UserSelect({ value: userId, onChange }: { readonly value: string; onChange(userId: string): void }) {
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search, 300);
  const nameOf = useUserNames(userId === '' ? [] : [userId]);
  const { data, isFetching } = useOperation(AuditUsers, { search: asked === '' ? null : asked });
  const isTyping = search !== asked;
  const found = (isTyping ? [] : (data?.accounts.nodes ?? [])).map(({ id, name, userName }) => ({
    value: id,
    label: name === '' ? userName : `${name} (${userName})`,
  }));
  const isListed = userId === '' || found.some(({ value }) => value === userId);
  return (
    <Select
      label={t('Who')}
      placeholder={t('Anyone')}
      data={isListed ? found : [{ value: userId, label: nameOf(userId) }, ...found]}
      value={userId === '' ? null : userId}
      onChange={(next) => onChange(next ?? '')}
      onSearchChange={setSearch}
      filter={({ options }) => options}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('Clear {field}', { field: t('Who') }) }}
      nothingFoundMessage={isTyping || isFetching ? t('Searching …') : t('Nothing found')}
    />
  );
}

/**
 * The audited objects other than records, by the name that replaces the collection in the audit trail: their
 * name, and the address to which the id of one is added.
 */
const AUDITED_SUBJECTS: Readonly<Record<string, readonly [name: string, page?: string]>> = {
  $apiKey: [phrase('API keys'), '/portal/keys/'],
  $webhook: [phrase('Webhooks'), '/portal/webhooks/'],
  $accountLink: [phrase('Links to set a password'), '/portal/people/'],
  $secondFactor: [phrase('Second factors'), '/portal/people/'],
  $session: [phrase('Sessions'), '/portal/people/'],
  $password: [phrase('Passwords'), '/portal/people/'],
  $collection: [phrase('Collections'), '/portal/collections/'],
  $property: [phrase('Settings'), '/portal/settings?find='],
  $domain: [phrase('Branches')],
};

type ListedChange = AuditOfSchoolQuery['auditTrail'][number];

/** The conditions on changes, without the place in the list. */
type AskedChanges = Omit<AuditOfSchoolQueryVariables, 'first' | 'before'>;
