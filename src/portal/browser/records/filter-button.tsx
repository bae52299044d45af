/** Builds a filter row by row. The filter is also shown as text, which can be edited, too. */
import { Drawer, Group, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { formats, phrase, t } from '../language/texts';
import { CodeToCopy } from '../shell/code-to-copy';
import { DialogButton } from '../shell/confirm-dialog';
import { DayInput } from '../shell/day-input';
import { readJsonObject } from '../shell/read-json';
import { IconButton, TextButton, type TextButtonProps } from '../shell/text-button';
import { LongTextField, PickField, TextField } from '../shell/text-field';
import { NumberTextInput } from './field-input';
import {
  type EmptinessChoice,
  type EmptinessKind,
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
import { type DeclaredField, sayAllowed, sayFieldName } from './use-declared-collection';

interface FilterBuilderProps {
  readonly fields: readonly DeclaredField[];
  readonly oquery: string;
  readonly where: string;
  onFilter(filter: { readonly oquery: string; readonly where: string }): void;
  onClose(): void;
}

type FilterButtonProps = Omit<FilterBuilderProps, 'onClose'> & Pick<TextButtonProps, 'disabled'>;

/** Shows the filter in words, and opens the builder. */
export function FilterButton({ disabled = false, ...filter }: FilterButtonProps) {
  const { fields, oquery, where } = filter;
  const words = useFilterWords(fields)(oquery, where);
  return (
    <DialogButton
      label={words === '' ? t('Filter') : words}
      variant={words === '' ? 'default' : 'light'}
      icon="filter"
      disabled={disabled}
      className={words === '' ? 'filter-button' : 'filter-button is-set'}
      title={words}
      dialog={(close) => (
        <FilterBuilder
          {...filter}
          onFilter={(next) => {
            filter.onFilter(next);
            close();
          }}
          onClose={close}
        />
      )}
    />
  );
}

function FilterBuilder({ fields, oquery, where, onFilter, onClose }: FilterBuilderProps) {
  const choices = fields.flatMap(filterFieldsOf);
  const given = splitWhere(where, choices);
  const [text, setText] = useState(oquery);
  const [rows, setRows] = useState<readonly FilterCondition[]>([
    ...(parseConditions(oquery) ?? []),
    ...given.conditions,
  ]);
  const [own, setOwn] = useState(given.rest);
  const isWritten = parseConditions(text) !== undefined;
  const isJson = own.trim() === '' || readJsonObject(own) !== undefined;
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
    <Drawer opened onClose={onClose} position="right" size="lg" title={t('Filter')}>
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
          <TextField
            label={t('As text (oquery)')}
            description={t('This is the current filter. REST accepts the same text.')}
            value={text}
            onChange={write}
            error={isWritten ? undefined : t('A condition is a field, an operator and a value: class=5')}
            spellCheck={false}
          />
          {asWhere !== '' && <CodeToCopy title={t('The same in GraphQL (where)')} text={asWhere} />}
          <LongTextField
            label={t('Additional filter (where, as JSON)')}
            description={t('Conditions that the rows above cannot express: or, not, references.')}
            placeholder={'{"or": [{"class": {"equals": "5"}}, {"section": {"equals": "A"}}]}'}
            value={own}
            onChange={setOwn}
            error={isJson ? undefined : t('This is not a JSON object')}
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
  const field = choices.find(({ path }) => path === row.field);
  const operators = operatorsOf(field);
  // An operator from the text stays available, even if the form would not offer it.
  const offered = operators.includes(row.operator) ? operators : [row.operator, ...operators];
  const fieldData = field || row.field === '' ? choices : [{ path: row.field, label: row.field }, ...choices];
  return (
    <Group gap="xs" align="flex-end" wrap="wrap" className="condition-row">
      <PickField
        aria-label={t('Field of condition {number}', { number })}
        data={fieldData.map(({ path, label }) => ({ value: path, label }))}
        value={row.field}
        onChange={(path) => {
          const next = choices.find((one) => one.path === path);
          onChange({ field: path, operator: firstOperator(next), value: '' });
        }}
        searchable
      />
      <PickField
        aria-label={t('Operator of condition {number}', { number })}
        data={offered.map((operator) => ({ value: operator, label: t(nameOfOperator(operator, field)) }))}
        value={row.operator}
        onChange={(operator) => onChange({ ...row, operator: operator as FilterOperator })}
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
  const label = t('Value of condition {number}', { number });
  const allowed =
    field?.type === 'boolean'
      ? [
          { value: 'true', label: t('yes') },
          { value: 'false', label: t('no') },
        ]
      : field?.allowed?.map((value) => ({ value, label: sayAllowed(value) }));
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
    <TextField
      aria-label={label}
      type={type}
      value={row.value}
      onChange={(text) => onChange({ ...row, value: text })}
    />
  );
}

function typeOf(operator: FilterOperator, field: FilterField | undefined): string {
  if (operator === '=#in') return 'month';
  if (field?.type === 'datetime') return 'date';
  return 'text';
}

const TEXT: readonly FilterOperator[] = ['=', 'notEquals', '=*', '=!*', '==', '=!='];

const OPERATORS_BY_TYPE: Readonly<Record<string, readonly FilterOperator[]>> = {
  number: ['===', '=>', '=<'],
  datetime: ['=on', '=#in', '=today', '=yesterday', '=>', '=<'],
  boolean: ['='],
};

const EMPTINESS: readonly FilterOperator[] = ['isNull', 'isFilled'];

const OPERATOR_NAMES: Readonly<Record<FilterOperator, string>> = {
  '=': phrase('is'),
  '===': phrase('equals'),
  notEquals: phrase('is not'),
  '==': phrase('starts with'),
  '=!=': phrase('does not start with'),
  '=*': phrase('contains'),
  '=!*': phrase('does not contain'),
  '=>': phrase('is greater than'),
  '=<': phrase('is less than'),
  '=on': phrase('is on the day'),
  '=#in': phrase('is in the month'),
  '=today': phrase('is today'),
  '=yesterday': phrase('was yesterday'),
  '=daybeforeyesterday': phrase('was the day before yesterday'),
  isNull: phrase('is empty'),
  isFilled: phrase('is not empty'),
};

/** A field, or a member of one, that conditions can test. */
interface FilterField extends EmptinessChoice {
  readonly label: string;
  readonly type: string;
  readonly allowed: readonly string[] | null;
}

/**
 * Returns the filter fields of a field. A reference can be filtered by the label of its target, or by its id.
 */
function filterFieldsOf(field: DeclaredField): FilterField[] {
  const label = sayFieldName(field.name);
  if (field.type === 'object') {
    return (field.fields ?? []).map((member) => {
      const path = `${field.name}.${member.name}`;
      return {
        path,
        label: `${label}: ${sayFieldName(member.name)}`,
        type: member.type,
        allowed: member.allowed,
        // Left out for lists, because some elements may have a value and others not.
        ...(!field.isList && { emptiness: { path, kind: kindOf(member) } }),
      };
    });
  }
  const emptiness = { path: field.name, kind: kindOf(field) };
  if (field.type !== 'reference')
    return [{ path: field.name, label, type: field.type, allowed: field.allowed, emptiness }];
  return [
    { path: `${field.name}.label`, label, type: 'text', allowed: null, emptiness },
    { path: `${field.name}.value`, label: `${label} (_id)`, type: 'text', allowed: null },
  ];
}

function kindOf({ type, isList, allowed }: Omit<DeclaredField, 'fields'>): EmptinessKind {
  if (isList) return 'list';
  return type === 'text' && allowed === null ? 'text' : 'value';
}

function operatorsOf(field: FilterField | undefined): readonly FilterOperator[] {
  const operators = OPERATORS_BY_TYPE[field?.type ?? ''] ?? TEXT;
  return field?.emptiness ? [...operators, ...EMPTINESS] : operators;
}

function firstOperator(field: FilterField | undefined): FilterOperator {
  return operatorsOf(field)[0] ?? '=';
}

/**
 * Returns the name of an operator for the form and the button of a filter; days have names such as "after"
 * instead of "greater than".
 */
function nameOfOperator(operator: FilterOperator, field: FilterField | undefined): string {
  if (field?.type === 'datetime' && operator === '=>') return phrase('is later than');
  if (field?.type === 'datetime' && operator === '=<') return phrase('is earlier than');
  return OPERATOR_NAMES[operator];
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MONTH = /^\d{4}-\d{2}$/;

/**
 * Returns a function that prints a filter for people: `class=5,name=*an` is "Class is 5 · Name contains an".
 * A malformed filter, and one that no row can express, is returned unchanged.
 */
function useFilterWords(fields: readonly DeclaredField[]): (oquery: string, where: string) => string {
  const choices = fields.flatMap(filterFieldsOf);
  const say = (condition: FilterCondition) => {
    const field = choices.find(({ path }) => path === condition.field);
    const said = {
      field: field?.label ?? condition.field,
      operator: t(nameOfOperator(condition.operator, field)),
      value: sayValue(condition, field),
    };
    return t('{field} {operator} {value}', said).trim();
  };
  return (oquery, where) => {
    const { conditions, rest } = splitWhere(where, choices);
    const written = parseConditions(oquery);
    const said = [...(written?.map(say) ?? [oquery]), ...conditions.map(say)].join(' · ');
    return [said, rest].filter((part) => part !== '').join(' + ');
  };
}

function sayValue({ operator, value }: FilterCondition, field: FilterField | undefined): string {
  if (!needsValue(operator)) return '';
  if (operator === '=#in' && MONTH.test(value)) return formats.month(value);
  if (field?.type === 'datetime' && DAY.test(value)) return formats.day(value);
  if (field?.type === 'boolean') return value === 'true' ? t('yes') : t('no');
  const isWhole = operator === '=' || operator === 'notEquals';
  return isWhole && field?.allowed?.includes(value) ? sayAllowed(value) : value;
}
