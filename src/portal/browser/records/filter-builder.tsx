/** Builds a filter row by row. The filter is also shown as text, which can be edited as well. */
import { Drawer, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';
import { DayInput } from '../shell/day-input';
import { IconButton, TextButton } from '../shell/text-button';
import {
  type FilterCondition,
  type FilterOperator,
  isOfWhere,
  joinWhere,
  needsValue,
  parseConditions,
  printConditions,
  printWhere,
  splitWhere,
} from './filter-conditions';
import {
  type FilterField,
  filterFieldsOf,
  firstOperator,
  nameOfOperator,
  operatorsOf,
} from './filter-fields';
import { NumberTextInput } from './number-text-input';
import { type DeclaredField, useAllowedWords, useFieldNames } from './use-declared-collection';

export interface FilterBuilderProps {
  readonly fields: readonly DeclaredField[];
  readonly oquery: string;
  readonly where: string;
  onFilter(filter: { readonly oquery: string; readonly where: string }): void;
  onClose(): void;
}

export function FilterBuilder({ fields, oquery, where, onFilter, onClose }: FilterBuilderProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const choices = fields.flatMap((field) => filterFieldsOf(field, nameOf));
  const given = splitWhere(where, choices);
  const [text, setText] = useState(oquery);
  const [rows, setRows] = useState<readonly FilterCondition[]>([
    ...(parseConditions(oquery) ?? []),
    ...given.conditions,
  ]);
  const [own, setOwn] = useState(given.rest);
  const isWritten = parseConditions(text) !== undefined;
  const isJson = own.trim() === '' || isObject(own);
  const edit = (next: readonly FilterCondition[]) => {
    setRows(next);
    setText(printConditions(next));
  };
  const write = (next: string) => {
    setText(next);
    const read = parseConditions(next.trim());
    if (read) setRows([...read, ...rows.filter(isOfWhere)]);
  };
  const asWhere = joinWhere(
    {
      conditions: rows,
      rest: printWhere(rows, (path) => choices.some((one) => one.path === path && one.type === 'number')),
    },
    choices,
  );
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={t('Filter')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onFilter({
            oquery: text.trim(),
            where: joinWhere({ conditions: rows, rest: own.trim() }, choices),
          });
        }}
      >
        <Stack>
          {rows.map((row, index) => (
            <ConditionRow
              // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than its place.
              key={index}
              {...{ row, choices, number: index + 1 }}
              onChange={(next) => edit(rows.with(index, next))}
              onRemove={() => edit(rows.toSpliced(index, 1))}
            />
          ))}
          <Group>
            <TextButton
              label={t('Add a condition')}
              icon="plus"
              onClick={() =>
                setRows([
                  ...rows,
                  { field: choices[0]?.path ?? '', operator: firstOperator(choices[0]), value: '' },
                ])
              }
            />
          </Group>
          <TextInput
            label={t('As text (oquery)')}
            description={t('This is the filter in force. REST takes the same text.')}
            value={text}
            onChange={(event) => write(event.currentTarget.value)}
            error={isWritten ? undefined : t('A condition is a field, an operator and a value: class=5')}
            spellCheck={false}
          />
          {asWhere !== '' && <CodeToCopy title={t('The same in GraphQL (where)')} text={asWhere} />}
          <Textarea
            label={t('Additional filter (where, as JSON)')}
            description={t('For what the rows above cannot express: or, not, conditions on references.')}
            placeholder={'{"or": [{"class": {"equals": "5"}}, {"section": {"equals": "A"}}]}'}
            value={own}
            onChange={(event) => setOwn(event.currentTarget.value)}
            error={isJson ? undefined : t('This is not a JSON object')}
            autosize
            minRows={2}
            spellCheck={false}
          />
          <Group justify="flex-end">
            <TextButton label={t('Clear the filter')} onClick={() => onFilter({ oquery: '', where: '' })} />
            <TextButton label={t('Filter')} isMain type="submit" disabled={!isJson || !isWritten} />
          </Group>
        </Stack>
      </form>
    </Drawer>
  );
}

interface ConditionRowProps {
  readonly row: FilterCondition;
  readonly choices: readonly FilterField[];
  readonly number: number;
  onChange(row: FilterCondition): void;
  onRemove(): void;
}

function ConditionRow({ row, choices, number, onChange, onRemove }: ConditionRowProps) {
  const t = useTexts();
  const field = choices.find(({ path }) => path === row.field);
  const operators = operatorsOf(field);
  // An operator from the text stays available, even if the form would not offer it.
  const offered = operators.includes(row.operator) ? operators : [row.operator, ...operators];
  const fieldData = field || row.field === '' ? choices : [{ path: row.field, label: row.field }, ...choices];
  return (
    <Group gap="xs" align="flex-end" wrap="wrap" className="condition-row">
      <Select
        aria-label={t('Field of condition {number}', { number })}
        data={fieldData.map(({ path, label }) => ({ value: path, label }))}
        value={row.field}
        onChange={(path) => {
          const next = choices.find((one) => one.path === path);
          onChange({ field: path ?? '', operator: firstOperator(next), value: '' });
        }}
        searchable
        allowDeselect={false}
      />
      <Select
        aria-label={t('Operator of condition {number}', { number })}
        data={offered.map((operator) => ({ value: operator, label: t(nameOfOperator(operator, field)) }))}
        value={row.operator}
        onChange={(operator) => onChange({ ...row, operator: operator as FilterOperator })}
        allowDeselect={false}
      />
      {needsValue(row.operator) && <ConditionValue {...{ row, field, number, onChange }} />}
      <IconButton
        icon="trash"
        label={t('Take condition {number} away', { number })}
        size="input-sm"
        onClick={onRemove}
      />
    </Group>
  );
}

function ConditionValue({
  row,
  field,
  number,
  onChange,
}: Pick<ConditionRowProps, 'row' | 'number' | 'onChange'> & { readonly field: FilterField | undefined }) {
  const t = useTexts();
  const wordsOf = useAllowedWords();
  const label = t('Value of condition {number}', { number });
  const allowed =
    field?.type === 'boolean'
      ? [
          { value: 'true', label: t('yes') },
          { value: 'false', label: t('no') },
        ]
      : field?.allowed?.map((value) => ({ value, label: wordsOf(value) }));
  if (allowed && (row.operator === '=' || row.operator === 'notEquals')) {
    return (
      <Select
        aria-label={label}
        data={allowed}
        value={row.value === '' ? null : row.value}
        onChange={(value) => onChange({ ...row, value: value ?? '' })}
      />
    );
  }
  if (field?.type === 'number') {
    return (
      <NumberTextInput
        aria-label={label}
        value={row.value}
        onChange={(value) => onChange({ ...row, value })}
      />
    );
  }
  const type = typeOf(row.operator, field);
  if (type === 'date')
    return (
      <DayInput aria-label={label} value={row.value} onChange={(value) => onChange({ ...row, value })} />
    );
  return (
    <TextInput
      aria-label={label}
      type={type}
      value={row.value}
      onChange={(event) => onChange({ ...row, value: event.currentTarget.value })}
    />
  );
}

function typeOf(operator: FilterOperator, field: FilterField | undefined): string {
  if (operator === '=#in') return 'month';
  if (field?.type === 'datetime') return 'date';
  return 'text';
}

function isObject(text: string): boolean {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null && !Array.isArray(read);
  } catch {
    return false;
  }
}
