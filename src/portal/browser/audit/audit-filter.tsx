import { NativeSelect, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import {
  type AuditOfSchoolQuery,
  type AuditOfSchoolQueryVariables,
  AuditUsers,
} from '../../../generated/portal/audit/audit';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { phrase, useTexts } from '../language/use-texts';
import { DayInput } from '../shell/day-input';
import { choicesOf } from '../shell/list-table';
import { isFiltering, PageFilter } from '../shell/page-filter';
import { TextButton } from '../shell/text-button';
import { CREDENTIAL_NAMES, useUserNames } from '../shell/use-record-labels';

/** The filter as in the address. '' means no condition. */
export const NO_AUDIT_FILTER = {
  principal: '',
  operation: '',
  collection: '',
  recordId: '',
  credential: '',
  requestId: '',
  from: '',
  until: '',
};

export type AuditFilterState = typeof NO_AUDIT_FILTER;

export const OPERATION_NAMES: Readonly<Record<string, string>> = {
  created: phrase('Created'),
  updated: phrase('Changed'),
  deleted: phrase('Removed'),
  exported: phrase('Exported as a person’s data'),
  erased: phrase('Erased as a person’s data'),
  rotated: phrase('Rotated'),
  revoked: phrase('Ended'),
  refused: phrase('Log-in refused'),
};

/** Rarely used conditions. They are shown on request, and while they are set. */
const RARE = ['credential', 'recordId', 'requestId'] as const;

export interface AuditFilterProps {
  readonly filter: AuditFilterState;
  onChange(changes: Partial<AuditFilterState>, how?: 'push' | 'replace'): void;
}

export function AuditFilter({ filter, onChange }: AuditFilterProps) {
  const t = useTexts();
  const { collections } = useViewer();
  const [isMoreWanted, setIsMoreWanted] = useState(false);
  const isMore = isMoreWanted || RARE.some((name) => filter[name] !== '');
  const field = (name: keyof AuditFilterState) => ({
    value: filter[name],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ [name]: event.currentTarget.value }, 'replace'),
  });
  const dayField = (name: 'from' | 'until') => ({
    value: filter[name],
    onChange: (day: string) => onChange({ [name]: day }, 'replace'),
  });
  return (
    <PageFilter isSet={isFiltering(filter)} onClear={() => onChange(NO_AUDIT_FILTER)}>
      <UserSelect userId={filter.principal} onChange={(principal) => onChange({ principal }, 'replace')} />
      <NativeSelect
        label={t('What')}
        {...field('operation')}
        data={choicesOf(t, OPERATION_NAMES, t('All'))}
      />
      <NativeSelect
        label={t('Collection')}
        {...field('collection')}
        data={[
          { value: '', label: t('All collections') },
          ...collections.map(({ name, title }) => ({ value: name, label: title })),
          ...Object.entries(AUDITED_SUBJECTS).map(([value, { name }]) => ({ value, label: t(name) })),
        ]}
      />
      <DayInput label={t('From')} {...dayField('from')} />
      <DayInput label={t('Until')} {...dayField('until')} />
      <TextButton
        label={t('More filters')}
        aria-expanded={isMore}
        onClick={() => setIsMoreWanted(!isMoreWanted)}
      />
      {isMore && (
        <>
          <NativeSelect
            label={t('Credential')}
            {...field('credential')}
            data={choicesOf(t, CREDENTIAL_NAMES, t('Any'))}
          />
          <TextInput label={t('Record')} placeholder="_id" {...field('recordId')} />
          <TextInput label={t('Request')} {...field('requestId')} />
        </>
      )}
    </PageFilter>
  );
}

/** A school may have many users, so they are searched by a part of the name. */
function UserSelect({ userId, onChange }: { readonly userId: string; onChange(userId: string): void }) {
  const t = useTexts();
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

interface AuditedSubject {
  readonly name: string;
  /** The page of the changed object; absent if there is none. */
  pageOf?(id: string): string;
}

/** The audited objects other than records, by the name that replaces the collection in the audit trail. */
export const AUDITED_SUBJECTS: Readonly<Record<string, AuditedSubject>> = {
  $apiKey: { name: phrase('API keys'), pageOf: (id) => `/portal/keys/${id}` },
  $webhook: { name: phrase('Webhooks'), pageOf: (id) => `/portal/webhooks/${id}` },
  $accountLink: { name: phrase('Links to set a password'), pageOf: personPage },
  $secondFactor: { name: phrase('Second factors'), pageOf: personPage },
  $session: { name: phrase('Sessions'), pageOf: personPage },
  $password: { name: phrase('Passwords'), pageOf: personPage },
  $collection: { name: phrase('Collections'), pageOf: (id) => `/portal/collections/${id}` },
  $property: { name: phrase('Settings'), pageOf: (id) => `/portal/settings?find=${encodeURIComponent(id)}` },
  $domain: { name: phrase('Branches') },
};

function personPage(id: string): string {
  return `/portal/people/${encodeURIComponent(id)}`;
}

export type ListedChange = AuditOfSchoolQuery['auditTrail'][number];

/** The conditions on changes, without the place in the list. */
export type AskedChanges = Omit<AuditOfSchoolQueryVariables, 'first' | 'before'>;
