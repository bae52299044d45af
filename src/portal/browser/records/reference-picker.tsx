/** Searches the target of a reference by a part of its label. */
import { ActionIcon, Group, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';
import type { DeclaredField, ReferenceValue } from './declared-field';
import { useReferenceTarget } from './reference-link';
import { useRecordChoices } from './use-record-choices';

export interface ReferencePickerProps {
  readonly field: DeclaredField;
  readonly value: ReferenceValue | undefined;
  onChange(value: unknown): void;
  readonly label: string;
  readonly description?: ReactNode;
  readonly required: boolean;
  readonly readOnly: boolean;
  readonly error?: ReactNode;
}

export function ReferencePicker({ field, value, onChange, readOnly, ...common }: ReferencePickerProps) {
  const t = useTexts();
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search, 250);
  const [isOpen, setIsOpen] = useState(false);
  const { collections } = useViewer();
  const [wanted, setWanted] = useState<string>();
  const found = useReferenceTarget([{ field, value }])({ field, value });
  const target = field.targets.find((one) => one === (wanted ?? found)) ?? field.targets[0] ?? '';
  const { choices: records, isFetching } = useRecordChoices({
    collection: target,
    search: asked === value?.label ? '' : asked,
    isEnabled: isOpen,
  });
  const isTyping = search !== asked;
  const matching = isTyping ? [] : records.map(({ id, label }) => ({ value: id, label }));
  const besides = new Map(records.map(({ id, beside }) => [id, beside]));
  const own = value ? [{ value: value.value, label: value.label ?? value.value }] : [];
  const choices = [...own, ...matching.filter(({ value: id }) => id !== value?.value)];
  return (
    <Group align="flex-end" gap={4} wrap="nowrap" className="reference-picker">
      {field.targets.length > 1 && !readOnly && (
        <Select
          label={t('{field} is one of', { field: common.label })}
          data={field.targets.map((name) => ({
            value: name,
            label: collections.find((one) => one.name === name)?.title ?? name,
          }))}
          value={target}
          onChange={(name) => {
            setWanted(name ?? undefined);
            if (value) onChange(null);
          }}
          allowDeselect={false}
          className="target-choice"
        />
      )}
      <Select
        {...common}
        className="grow"
        data={choices}
        value={value?.value ?? null}
        onChange={(id, option) =>
          onChange(
            id === null
              ? null
              : { value: id, label: option?.label, ...(field.targets.length > 1 && { collection: target }) },
          )
        }
        renderOption={({ option }) => (
          <span>
            {option.label} <span className="dimmed">{besides.get(option.value)}</span>
          </span>
        )}
        searchable
        selectFirstOptionOnChange={false}
        onKeyDown={(event) => {
          // An incomplete name is no choice: Enter would send the form without it.
          if (event.key === 'Enter' && search !== (value?.label ?? '')) event.preventDefault();
        }}
        disabled={readOnly}
        onSearchChange={setSearch}
        onDropdownOpen={() => setIsOpen(true)}
        filter={({ options }) => options}
        nothingFoundMessage={isTyping || isFetching ? t('Searching …') : t('Nothing found')}
        placeholder={t('Type part of the name')}
        clearable={!common.required && !readOnly}
        clearButtonProps={{ 'aria-label': t('Clear {field}', { field: common.label }) }}
      />
      {value && found !== undefined && (
        <ActionIcon
          component={Link}
          to={`/portal/records/${found}/${encodeURIComponent(value.value)}`}
          size="input-sm"
          variant="default"
          aria-label={t('Open {label}', { label: value.label ?? value.value })}
        >
          <Icon name="link" />
        </ActionIcon>
      )}
    </Group>
  );
}
