import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';
import { type RecordChoice, useRecordChoices } from '../records/use-record-choices';
import type { NamedRecords } from './named-records';

export interface RecordParameterProps {
  readonly common: Pick<SelectProps, 'description' | 'required' | 'inputWrapperOrder'> & {
    readonly label: string;
  };
  readonly named: NamedRecords;
  readonly value: string;
  onChange(value: string): void;
}

/** Searches the record that a report is about, by a part of its name or number. */
export function RecordParameter({ common, named, value, onChange }: RecordParameterProps) {
  const t = useTexts();
  const [search, setSearch] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const { collection, field, told } = named;
  const isText = field !== '_id';
  const asked = { collection, told: isText ? [...new Set([...told, field])] : told };
  const chosen = useRecordChoices({
    ...asked,
    search: '',
    only: { field, value },
    isEnabled: value !== '',
  }).choices[0];
  const own = value === '' ? [] : [{ value, label: chosen ? describeChoice(chosen, named) : value }];
  const [settled] = useDebouncedValue(search, 250);
  const isTyping = search !== settled;
  const isSearching = settled !== '' && settled !== own[0]?.label;
  const { choices, isFetching } = useRecordChoices({
    ...asked,
    alsoIn: isText ? field : undefined,
    search: isSearching ? settled : '',
    isEnabled: isOpen,
  });
  const found = (isTyping ? [] : choices).map((choice) => ({
    value: isText ? String(choice.told[field] ?? '') : choice.id,
    label: describeChoice(choice, named),
  }));
  const others = found.filter((one) => one.value !== '' && one.value !== value);
  // A class or number without a record may still occur in older records.
  const isUnknown = isText && isSearching && !isTyping && !isFetching && found.length === 0;
  const written = isUnknown ? [{ value: settled, label: settled }] : [];
  return (
    <Select
      {...common}
      data={[...own, ...others, ...written]}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      searchable
      onSearchChange={setSearch}
      onDropdownOpen={() => setIsOpen(true)}
      filter={({ options }) => options}
      nothingFoundMessage={isTyping || isFetching ? t('Searching …') : t('Nothing found')}
      placeholder={t('Type part of the name')}
      clearable={!common.required}
      clearButtonProps={{ 'aria-label': t('Clear {field}', { field: common.label }) }}
    />
  );
}

function describeChoice({ label, told }: RecordChoice, named: NamedRecords): string {
  const values = named.told.map((field) => told[field]).filter((one) => typeof one === 'string');
  return [label, values.join(' ')].filter((one) => one !== '').join(' · ');
}
