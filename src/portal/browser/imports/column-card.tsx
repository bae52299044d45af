/** A column of the file: examples of its cells, and the field that receives them. */
import { Card, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type ImportFieldFragment, type ImportFieldsQuery } from '../../../generated/portal/imports/imports';
import {
  type CellPart,
  DAY_EXAMPLES,
  INSTANT_FORMATS,
  NUMBER_EXAMPLES,
  partOfCell,
} from '../../../services/importing/cells/day-formats.js';
import { formats, phrase, t } from '../language/texts';
import { sayAllowed, sayFieldName } from '../records/use-declared-collection';
import { Icon } from '../shell/icon';
import { readJson } from '../shell/read-json';
import { TextButton } from '../shell/text-button';
import { CheckField, ChoiceField, TextField } from '../shell/text-field';
import { type FoundColumn, type MappedColumn } from './import-steps';

interface ColumnCardProps {
  readonly column: MappedColumn;
  readonly found: FoundColumn | undefined;
  readonly choices: readonly ColumnChoice[];
  /** The fields that have a column. */
  readonly taken: ReadonlySet<string | null>;
  onChange(column: MappedColumn): void;
  /** Splits the cells of the column at a separator. `undefined` makes them whole again. */
  onPart(separator: string | undefined): void;
}

/** The separators of the parts of a cell, with their names. */
const SEPARATORS = [
  ['-', phrase('a hyphen: 10-A')],
  ['/', phrase('a slash: 10/A')],
  [' ', phrase('a space: 10 A')],
  [',', phrase('a comma: 10, A')],
  ['|', phrase('a bar: 10|A')],
  ['', phrase('nothing, digits beside letters: 10A')],
] as const;

/** The choice in the list that leaves the cells whole. The empty text is a separator. */
const WHOLE = 'whole';
/** The choice of a column with values until it has a field or is left out. No field has this name. */
const UNDECIDED = '?';

export function ColumnCard({ column, found: whole, choices, taken, onChange, onPart }: ColumnCardProps) {
  const [isOpen, setIsOpen] = useState(column.values !== undefined);
  const { field, part } = column;
  const name = part
    ? t('{column}, part {number}', { column: column.column, number: part.number })
    : column.column;
  const found = whole && part ? partsFound(whole, part) : whole;
  const isEmpty = (whole?.filled ?? 0) === 0;
  const choice = choices.find(({ path }) => path === field);
  const formats = formatChoices(choice?.field, found?.likely.kind);
  const offered = choices.filter(({ path }) => path === field || !taken.has(path));
  const pick = (path: string) => {
    // The options of the previous field do not apply to this one.
    const { blank } = column;
    const one = { column: column.column, ...(part && { part }), ...(blank && { blank }) };
    if (path === '') onChange({ column: column.column, ...(part && { part }), field: null, leftOut: true });
    else if (choices.some((choice) => choice.path === path)) onChange({ ...one, field: path });
    else onChange({ ...one, field: path, undeclared: true });
  };
  return (
    <Card component="li" withBorder padding="sm" className="version-card">
      <div className="mapping-row">
        <div>
          <Text fw={600} className="wrapped" size="md">
            {name}
          </Text>
          <Samples found={found} />
        </div>
        <ChoiceField
          label={t('Goes to')}
          aria-label={t('{column} goes to', { column: name })}
          value={field ?? (column.leftOut || isEmpty ? '' : UNDECIDED)}
          onChange={pick}
        >
          {field === null && !column.leftOut && !isEmpty && (
            <option value={UNDECIDED}>{t('Choose a field')}</option>
          )}
          <option value="">{t('Left out')}</option>
          {offered.map(({ path, label }) => (
            <option key={path} value={path}>
              {label}
            </option>
          ))}
          {field !== null && !choice && <option value={field}>{field}</option>}
          {field === null && !part && !choices.some(({ path }) => path === name) && (
            <option value={name}>{t('{name}, which is not declared', { name })}</option>
          )}
        </ChoiceField>
        {formats.length > 0 && (
          <ChoiceField
            label={t('Written as')}
            aria-label={t('{column} is written as', { column: name })}
            value={column.format ?? formats[0]?.[0] ?? ''}
            onChange={(next) => onChange({ ...column, format: next })}
            data={formats.map(([format, example]) => ({ value: format, label: example }))}
          />
        )}
        {field !== null && (
          <TextButton
            label={t('More')}
            variant="subtle"
            px="xs"
            aria-expanded={isOpen}
            aria-label={t('More about {column}', { column: name })}
            onClick={() => setIsOpen(!isOpen)}
          />
        )}
      </div>
      <Misfits found={found} />
      {isOpen && field !== null && (
        <Stack mt="sm">
          <ReplacedValues {...{ column, found, choice, onChange }} />
          <CheckField
            label={t('An empty cell clears the value')}
            checked={column.empty === 'remove'}
            onChange={(isOn) => {
              const { empty: _, ...others } = column;
              onChange(isOn ? { ...others, empty: 'remove' } : others);
            }}
          />
          {found?.fillers && (
            <CheckField
              label={t('{values} count as no value', { values: found.fillers.join(', ') })}
              checked={column.blank !== undefined}
              onChange={(isOn) => {
                const { blank: _, ...others } = column;
                onChange(isOn ? { ...others, blank: found.fillers ?? [] } : others);
              }}
            />
          )}
          {(part?.number ?? 1) === 1 && <Separator part={part} {...{ name, onPart }} />}
        </Stack>
      )}
    </Card>
  );
}

/** Whether the cells contain several parts, and the separator of these. */
function Separator({
  part,
  name,
  onPart,
}: Pick<ColumnCardProps, 'onPart'> & { readonly part: CellPart | undefined; readonly name: string }) {
  const separator = part?.separator;
  const isOther = separator !== undefined && !SEPARATORS.some(([known]) => known === separator);
  return (
    <ChoiceField
      label={t('Several values in a cell, separated by')}
      aria-label={t('{column} is separated by', { column: name })}
      value={separator ?? WHOLE}
      onChange={(next) => onPart(next === WHOLE ? undefined : next)}
      data={[
        { value: WHOLE, label: t('Nothing: one value') },
        ...SEPARATORS.map(([value, label]) => ({ value, label: t(label) })),
        ...(isOther ? [separator] : []),
      ]}
      maw={420}
    />
  );
}

/** The findings for a part, without unusual cells, which were found among whole cells. */
function partsFound(found: FoundColumn, part: CellPart): FoundColumn {
  const parts = found.examples.map((cell) => partOfCell(cell, part) ?? '').filter((text) => text !== '');
  return { ...found, examples: [...new Set(parts)], misfits: { count: 0, samples: [] } };
}

function Samples({ found }: { readonly found: FoundColumn | undefined }) {
  if (!found) return null;
  return (
    <Text c="dimmed" className="wrapped" lineClamp={2}>
      {found.examples.length === 0 ? t('Empty') : found.examples.join(' · ')}
      {found.blank > 0 && ` (${t('{count} blank', { count: formats.number(found.blank) })})`}
    </Text>
  );
}

/** Cells that differ from the likely kind of the column. */
function Misfits({ found }: { readonly found: FoundColumn | undefined }) {
  if (!found || found.misfits.count === 0) return null;
  const { count, samples } = found.misfits;
  return (
    <Group gap={6} mt={6} wrap="nowrap" align="flex-start">
      <Icon name="warning" size={14} />
      <Text className="wrapped">
        {t('{count} unlike the rest:', { count: formats.number(count) })}{' '}
        {samples
          .slice(0, 3)
          .map(({ number, value }) => t('row {number} “{value}”', { number, value }))
          .join(', ')}
      </Text>
    </Group>
  );
}

/** Replacements for values of the file. Those of the first rows are suggested. */
function ReplacedValues({
  column,
  found,
  choice,
  onChange,
}: Pick<ColumnCardProps, 'column' | 'found' | 'onChange'> & { readonly choice: ColumnChoice | undefined }) {
  const values = column.values ?? {};
  const sources = [...new Set([...Object.keys(values), ...(found?.examples ?? [])])];
  const allowed = choice?.field?.allowed;
  const set = (source: string, text: string) => {
    const { [source]: _, ...others } = values;
    const next = text === '' ? others : { ...others, [source]: fixedValueOf(text, choice?.field) };
    const { values: before, ...rest } = column;
    onChange(Object.keys(next).length === 0 ? rest : { ...rest, values: next });
  };
  return (
    <Stack gap="xs" role="group" aria-label={t('Values to replace')}>
      <Text fw={500}>{t('Values to replace')}</Text>
      {sources.map((source) => {
        const common = {
          'aria-label': t('Instead of {value}', { value: source }),
          value: String(values[source] ?? ''),
          onChange: (text: string) => set(source, text),
        };
        return (
          <Group key={source} wrap="nowrap" gap="xs">
            <Text className="replaced-value" title={source}>
              {source}
            </Text>
            <span aria-hidden="true">→</span>
            {allowed ? (
              <ChoiceField
                {...common}
                data={[
                  { value: '', label: t('unchanged') },
                  ...allowed.map((code) => ({ value: code, label: sayAllowed(code) })),
                ]}
              />
            ) : (
              <TextField {...common} placeholder={t('unchanged')} />
            )}
          </Group>
        );
      })}
    </Stack>
  );
}

export type ImportCollection = ImportFieldsQuery['collections'][number];

export interface ColumnChoice {
  /** The path in a mapping: `guardian.phone`, `student.sequence`. */
  readonly path: string;
  readonly label: string;
  readonly field: ImportFieldFragment | undefined;
}

export function columnChoices(
  collection: ImportCollection,
  collections: readonly ImportCollection[],
): readonly ColumnChoice[] {
  return [
    { path: '_id', label: '_id', field: undefined },
    ...collection.fields.flatMap((field) => choicesOf(field, collections)),
  ];
}

function choicesOf(
  field: ImportCollection['fields'][number],
  collections: readonly ImportCollection[],
): readonly ColumnChoice[] {
  const { name, type, isList, targets } = field;
  const label = sayFieldName(name);
  if (type === 'object' && !isList && field.fields.length > 0) {
    return field.fields.map((member) => ({
      path: `${name}.${member.name}`,
      label: `${label}: ${sayFieldName(member.name)}`,
      field: member,
    }));
  }
  if (type !== 'reference') return [{ path: name, label, field }];
  const found = collections.filter((one) => targets.includes(one.name)).flatMap((one) => one.fields);
  const keys = new Set(found.filter((one) => one.isUnique && one.type !== 'object').map((one) => one.name));
  return [
    { path: name, label: `${label} (_id)`, field },
    ...[...keys].map((key) => ({
      path: `${name}.${key}`,
      label: `${label}: ${sayFieldName(key)}`,
      field: undefined,
    })),
  ];
}

/** The number of months that are offered for the numbered days of a register. */
const MONTHS_BACK = 12;

/** The formats of cells for the field, with an example each; for numbers, the months of their days. */
function formatChoices(
  field: ImportFieldFragment | undefined,
  likely?: string,
): readonly (readonly [string, string])[] {
  if (field?.type === 'number') return Object.entries(NUMBER_EXAMPLES);
  if (field?.type !== 'datetime') return [];
  const examples: Readonly<Record<string, string>> = DAY_EXAMPLES;
  const isDay = String(field.example ?? '').length === 10;
  const formats = isDay ? Object.keys(DAY_EXAMPLES) : INSTANT_FORMATS;
  const today = new Date();
  const months = Array.from({ length: likely === 'integer' ? MONTHS_BACK : 0 }, (_, back) =>
    new Date(Date.UTC(today.getFullYear(), today.getMonth() - back)).toISOString().slice(0, 7),
  );
  return [...formats, ...months].map((format) => [format, examples[format] ?? format]);
}

/** The value in the form that the gateway accepts: JSON for these fields, and text for all others. */
export function fixedValueOf(text: string, field: ImportFieldFragment | undefined): unknown {
  const isJson = field?.type === 'number' || field?.type === 'boolean';
  return isJson ? (readJson(text) ?? text) : text;
}
