/** Searches the records that a reference or a text points to, by parts of their labels. */
import { ActionIcon, Group, Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ReferenceChoices } from '../../../generated/portal/records/record';
import { LabelFields } from '../../../generated/portal/shell/record-labels';
import { useOperation, useTitleOf, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { Icon } from '../shell/icon';
import { PickField } from '../shell/text-field';
import { useRecordLabels } from '../shell/use-record-labels';
import { type DeclaredField, isReferenceValue, type ReferenceValue } from './use-declared-collection';

interface ReferencePickerProps {
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
  const titleOf = useTitleOf();
  const [wanted, setWanted] = useState<string>();
  const found = useReferenceTarget([{ field, value }])({ field, value });
  const target = field.targets.find((one) => one === (wanted ?? found)) ?? field.targets[0] ?? '';
  return (
    <Group align="flex-end" gap={4} wrap="nowrap" className="reference-picker">
      {field.targets.length > 1 && !readOnly && (
        <PickField
          label={t('{field} is one of', { field: common.label })}
          data={field.targets.map((name) => ({ value: name, label: titleOf(name) }))}
          value={target}
          onChange={(name) => {
            setWanted(name ?? undefined);
            if (value) onChange(null);
          }}
          className="target-choice"
        />
      )}
      <RecordSelect
        common={{ ...common, className: 'grow', disabled: readOnly, selectFirstOptionOnChange: false }}
        named={{ collection: target, field: '_id' }}
        value={value?.value ?? ''}
        known={value && (value.label ?? value.value)}
        onChange={(id, label) =>
          onChange(
            id === '' ? null : { value: id, label, ...(field.targets.length > 1 && { collection: target }) },
          )
        }
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

/** The records that a text refers to, by the value of one of their fields. */
export interface NamedRecords {
  readonly collection: string;
  /** `_id` for references by id, which nobody knows by heart. */
  readonly field: string;
}

interface RecordSelectProps {
  readonly common: Omit<SelectProps, 'data' | 'onChange' | 'value'> & { readonly label: string };
  readonly named: NamedRecords;
  readonly value: string;
  /** The label of the value, if it need not be read. */
  readonly known?: string | undefined;
  onChange(value: string, label: string | undefined): void;
}

/** Searches a record by a part of its name or number, for the value of one of its fields. */
export function RecordSelect({ common, named, value, known, onChange }: RecordSelectProps) {
  const [search, setSearch] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const { collection, field } = named;
  const isText = field !== '_id';
  const asked = { collection, alsoRead: isText ? [field] : [] };
  const chosen = useRecordChoices({
    ...asked,
    search: '',
    only: { field, value },
    isEnabled: value !== '' && known === undefined,
  }).choices[0];
  const shown = known ?? (chosen ? labelOf(chosen) : value);
  const own = value === '' ? [] : [{ value, label: shown }];
  const [settled] = useDebouncedValue(search, 250);
  const isTyping = search !== settled;
  const isSearching = settled !== '' && settled !== shown;
  const { choices, isFetching } = useRecordChoices({
    ...asked,
    alsoIn: isText ? field : undefined,
    search: isSearching ? settled : '',
    isEnabled: isOpen,
  });
  const storedOf = (choice: RecordChoice) => (isText ? String(choice.values[field] ?? '') : choice.id);
  const found = (isTyping ? [] : choices).map((choice) => ({
    value: storedOf(choice),
    label: labelOf(choice),
  }));
  const others = found.filter((one) => one.value !== '' && one.value !== value);
  // A class or number without a record may still occur in older records.
  const isUnknown = isText && isSearching && !isTyping && !isFetching && found.length === 0;
  const written = isUnknown ? [{ value: settled, label: settled }] : [];
  return (
    <Select
      placeholder={t('Type part of the name')}
      {...common}
      data={[...own, ...others, ...written]}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '', choices.find((choice) => storedOf(choice) === next)?.label)}
      searchable
      onKeyDown={(event) => {
        // Nothing is chosen while a name is incomplete, and Enter would send the form without a record.
        if (event.key === 'Enter' && search !== shown) event.preventDefault();
      }}
      onSearchChange={setSearch}
      onDropdownOpen={() => setIsOpen(true)}
      filter={({ options }) => options}
      nothingFoundMessage={isTyping || isFetching ? t('Searching …') : t('Nothing found')}
      clearable={!common.required && !common.disabled}
      clearButtonProps={{ 'aria-label': t('Clear {field}', { field: common.label }) }}
    />
  );
}

function labelOf({ label, beside }: RecordChoice): string {
  return [label, beside].filter((one) => one !== '').join(' · ');
}

/** Returns whether the viewer may read a collection and, unless it is `_id`, the named field of it. */
export function useIsReadable(): (named: NamedRecords | undefined) => boolean {
  const { collections } = useViewer();
  return (named) => {
    const rights = collections.find(({ name, canRead }) => name === named?.collection && canRead);
    return named?.field === '_id'
      ? rights !== undefined
      : rights?.readableFields.includes(named?.field ?? '') === true;
  };
}

interface ReferenceLinkProps {
  readonly value: unknown;
  /** Its collection; `undefined`: no link. */
  readonly target: string | undefined;
}

/**
 * A small link at the end of the cell. It is visible while the cell has the pointer or the focus, or always
 * on devices without a pointer: the rest of the cell is for editing.
 */
export function ReferenceLink({ value, target }: ReferenceLinkProps) {
  if (!isReferenceValue(value) || target === undefined) return null;
  const label = t('Open {label}', { label: value.label ?? value.value });
  return (
    <Link
      to={`/portal/records/${target}/${encodeURIComponent(value.value)}`}
      className="cell-link"
      tabIndex={-1}
      aria-label={label}
      title={label}
    >
      <Icon name="link" size={14} />
    </Link>
  );
}

interface Reference {
  readonly field: DeclaredField;
  readonly value: unknown;
}

/**
 * Returns the collection of the record that a reference leads to: of several possible ones, the one that has
 * the record. `undefined` if that is unknown, or the viewer may not read it. `asked` are the references that
 * may be passed.
 */
export function useReferenceTarget(
  asked: readonly Reference[],
): (reference: Reference) => string | undefined {
  const isReadable = useIsReadable();
  const open = asked.filter(({ field, value }) => isReferenceValue(value) && !declaredTarget(field, value));
  const { data } = useOperation(LabelFields, {}, { isEnabled: open.length > 0 });
  const labelFields = new Map(data?.collections.map(({ name, labelField }) => [name, labelField ?? '']));
  const names = [...new Set(open.flatMap(({ field }) => field.targets))];
  const labelOf = useRecordLabels(
    names.map((collection) => ({
      collection,
      field: labelFields.get(collection) ?? '',
      ids: open.flatMap(({ field, value }) =>
        field.targets.includes(collection) && isReferenceValue(value) ? [value.value] : [],
      ),
    })),
  );
  return ({ field, value }) => {
    if (!isReferenceValue(value)) return undefined;
    const target =
      declaredTarget(field, value) ?? field.targets.find((name) => labelOf(name, value.value) !== undefined);
    return target !== undefined && isReadable({ collection: target, field: '_id' }) ? target : undefined;
  };
}

/** The collection that a reference leads to, if its value or its declaration names it. */
export function declaredTarget({ targets }: DeclaredField, value: unknown): string | undefined {
  if (isReferenceValue(value) && value.collection !== undefined) return value.collection;
  return targets.length === 1 ? targets[0] : undefined;
}

interface AskedChoices {
  readonly collection: string;
  /** The text that the labels contain; empty for any. */
  readonly search: string;
  /** Another field to search in. */
  readonly alsoIn?: string | undefined;
  /** Further fields to read. */
  readonly alsoRead?: readonly string[];
  /** Only this record, regardless of the search. */
  readonly only?: { readonly field: string; readonly value: string } | undefined;
  readonly isEnabled: boolean;
}

interface RecordChoice {
  readonly id: string;
  readonly label: string;
  /** Distinguishes it from others with the same label. */
  readonly beside: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Reads the first records of a collection whose label contains a text, as choices. While they are read, there
 * are none: a key must not choose from the results of another text.
 */
function useRecordChoices(asked: AskedChoices): {
  readonly choices: readonly RecordChoice[];
  readonly isFetching: boolean;
} {
  const { collection, search, alsoIn, alsoRead = [], only, isEnabled } = asked;
  const labels = useOperation(LabelFields, {});
  const known = useKnownRecords()(collection);
  const labelField = labels.data?.collections.find(({ name }) => name === collection)?.labelField ?? '_id';
  const searched = [labelField, ...known.searched, ...(alsoIn === undefined ? [] : [alsoIn])];
  const found = search === '' ? {} : whereContains([...new Set(searched)], search);
  const { data, isFetching } = useOperation(
    ReferenceChoices,
    {
      collection,
      where: only ? { [only.field]: { equals: only.value } } : found,
      project: [...new Set([labelField, ...known.shown, ...alsoRead])],
    },
    { isEnabled: isEnabled && collection !== '' && labels.data !== undefined },
  );
  const choices = (data?.records.nodes ?? []).map(({ id, data: fields }) => {
    const values = fields as Readonly<Record<string, unknown>>;
    return {
      ...{ id, label: String(values[labelField] ?? id), values },
      beside: describeKnown(known.shown, values),
    };
  });
  return { choices, isFetching };
}

interface KnownRecords {
  /** The fields that are searched; each has an index of its parts. */
  readonly searched: readonly string[];
  readonly shown: readonly string[];
}

const KNOWN: Readonly<Record<string, KnownRecords>> = {
  registration: {
    searched: ['name', 'sequence', 'guardian_phone'],
    shown: ['class', 'section', 'sequence'],
  },
  pltf_user: { searched: ['name'], shown: ['department', 'designation'] },
  fee_receipt: { searched: ['receipt_no', 'instrument_no'], shown: ['class', 'section', 'date'] },
};

/** Returns the fields that the viewer may read; none for collections that are found by their label alone. */
export function useKnownRecords(): (collection: string) => KnownRecords {
  const isReadable = useIsReadable();
  return (collection) => {
    const { searched = [], shown = [] } = KNOWN[collection] ?? {};
    const mayRead = (field: string) => isReadable({ collection, field });
    return { searched: searched.filter(mayRead), shown: shown.filter(mayRead) };
  };
}

/** The records one of whose fields contains all words of a text; a phone is found by its digits. */
export function whereContains(fields: readonly string[], text: string) {
  const words = text.trim().split(/\s+/);
  const digits = text.replaceAll(/[\s()-]/g, '').replace(/^0(?=\d{10}$)/, '');
  return {
    or: fields.map((field) =>
      field.endsWith('phone')
        ? { [field]: { contains: /^\+?\d+$/.test(digits) ? digits : text.trim(), mode: 'INSENSITIVE' } }
        : { and: words.map((word) => ({ [field]: { contains: word, mode: 'INSENSITIVE' } })) },
    ),
  };
}

/** Prints the text beside a name, e.g. `5 A · GV-02036`. */
export function describeKnown(shown: readonly string[], data: Readonly<Record<string, unknown>>): string {
  const value = (field: string) => String(data[field] ?? '').slice(0, field === 'date' ? 10 : undefined);
  const place = [value('class'), value('section')].filter((one) => shown.includes('class') && one !== '');
  const others = shown.filter((field) => field !== 'class' && field !== 'section').map(value);
  return [place.join(' '), ...others].filter((one) => one !== '').join(' · ');
}
