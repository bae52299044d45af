/**
 * The root fields that aggregate the records of a collection: `tasksAggregate` and `tasksDistinct`. They use
 * the same `RecordSet` as `tasks`, with the same rights and conditions.
 */
import { invalidAt, ServiceError } from '../../../../base/errors.js';
import { isExactNumber, type JsonValue } from '../../../../base/json/json.js';
import type {
  Group,
  GroupComparison,
  GroupFilter,
  GroupOrder,
  Measure,
} from '../../../../base/model/aggregate-query.js';
import { isPlainText } from '../../../../base/model/field-types/scalar-type.js';
import { isScalarName, SCALAR_TYPES } from '../../../../base/model/field-types/scalar-types.js';
import type { Filter } from '../../../../base/model/filter.js';
import type { Operand } from '../../../../base/model/operand.js';
import type { Path } from '../../../../base/model/path.js';
import type { Scope } from '../../../../base/model/scope.js';
import { member, nullable, objectType, type ValueOf } from '../../../../base/scalars/declared-type.js';
import { CI_ARGUMENT, OQUERY_BESIDE_WHERE, toPageRequest } from '../../../resolvers/page-arguments.js';
import type { SortDirection } from '../../../resolvers/records/generic-record.js';
import { PRINTABLE_FIELD, type Print } from '../../../resolvers/records/printable.js';
import { printReadyValue } from '../../../resolvers/records/ready-value.js';
import { scanningField } from '../../../resolvers/records/record-resolver.js';
import { type SelectionInfo, SelectionMemory, selectedFields } from '../../../resolvers/records/selection.js';
import { requireScope } from '../../../resolvers/request-context.js';
import type { FieldCall, RunTimeField } from '../../../resolvers/run-time-types.js';
import { type RecordServices, type SelectingArguments, toRequest } from '../record-fields.js';
import { SCALAR_FORMS } from '../scalar-forms.js';
import type { TypedParts } from '../typed-api.js';
import type { TypedCollection } from '../typed-model.js';
import {
  type AggregateFields,
  type AggregateValue,
  type KeyField,
  listAggregateFields,
} from './aggregate-fields.js';
import {
  createAggregateTypes,
  type FieldMeasure,
  formOf,
  isFieldMeasure,
  type MeasureTypes,
} from './aggregate-types.js';

/** Each key is a column of the statement. */
const MAX_KEYS = 10;
const DEFAULT_FIRST = 100;

interface Condition extends Omit<SelectingArguments, 'orderBy'> {
  readonly first: number;
}

interface AggregateArguments extends Condition {
  readonly groupBy?: readonly string[] | null;
  readonly having?: object | null;
  readonly orderBy?: readonly GroupOrderByValue[] | null;
}

interface DistinctArguments extends Condition {
  readonly field: string;
  readonly contains?: string | null;
}

/** None for a collection without a single-valued field. */
export function createAggregateQueries(
  typed: TypedCollection,
  { model, types, whereInputs, measures }: TypedParts & { readonly measures: MeasureTypes },
  { records, pages }: RecordServices,
): readonly RunTimeField[] {
  const { collection, plural, object } = typed;
  const fields = listAggregateFields(typed, model);
  if (fields.own.length === 0) return [];
  const keysByName = new Map(fields.keys.map((key) => [key.enumName, key]));
  const { group, groupField, having, orderBy } = createAggregateTypes(typed, fields, { types, measures });
  const condition = {
    where: nullable.of(whereInputs.ofCollection(typed), 'Conditions on the records, all of which hold.'),
    oquery: OQUERY_BESIDE_WHERE,
    ci: CI_ARGUMENT,
  };
  const firstOf = (text: string) => member.whole(text, { defaultValue: DEFAULT_FIRST });
  const selections = new SelectionMemory<GroupSelection>();
  const requestOf = ({
    orderBy: _,
    ...selecting
  }: Omit<SelectingArguments, 'orderBy'> & { readonly orderBy?: unknown }) =>
    toRequest(selecting, { collection: collection.name, whereNames: object });
  const extensions = { ...PRINTABLE_FIELD, ...scanningField(requestOf) };

  function aggregate(args: AggregateArguments, { context, info }: FieldCall): Print {
    const { groupBy, having: conditions, orderBy: order, first } = args;
    const keys = [...new Set(groupBy ?? [])].flatMap((name) => keysByName.get(name) ?? []);
    if (keys.length > MAX_KEYS) throw tooManyKeys(keys.length);
    const selection = selections.recall(info, () => selectMeasures(typed, fields, info));
    hintAtUngrouped(requireScope(context), selection, keys);
    const { limit } = toPageRequest({ first }, pages);
    const query = {
      groupBy: keys.map(({ key }) => key),
      measures: selection.measures.map(({ measure }) => measure),
      having: conditions ? toFilter({ ...conditions }, fields, { parts: 0 }) : undefined,
      order: (order ?? []).map((one) => toGroupOrder(one, fields)),
      limit,
    };
    const set = records.records(context, { ...requestOf(args), projection: [] });
    return async () => {
      const groups = await set.aggregate(query);
      return printReadyValue(
        groups.map((one) => toGroupSource(one, { keys, selection, fields })),
        info,
      );
    };
  }

  function distinct(args: DistinctArguments, { context, info }: FieldCall): Print {
    const { contains, first } = args;
    const field = keysByName.get(args.field);
    if (!field) throw new Error(`no field ${args.field}`);
    const { key } = field;
    const { limit } = toPageRequest({ first }, pages);
    const filter = contains ? containing(contains, field) : undefined;
    const set = records.records(context, { ...requestOf(args), filter, projection: [] });
    const query = {
      groupBy: [key],
      measures: [{ kind: 'records' }, labelOf(field)] as const,
      having: { kind: 'hasKey', key } as const,
      order: [{ by: { measure: { kind: 'records' } }, direction: 'descending' }] as const,
      limit,
    };
    return async () => {
      const groups = await set.aggregate(query);
      return printReadyValue(
        groups.map((one) => toDistinctValue(one, field)),
        info,
      );
    };
  }

  return [
    {
      kind: 'query',
      name: `${plural}Aggregate`,
      description:
        `${collection.title}: counts, sums, averages and extremes of the records that match, in all or ` +
        `by group. Without \`groupBy\` one group. Ordered by the keys unless \`orderBy\` names ` +
        'otherwise.',
      type: [group],
      arguments: {
        ...condition,
        groupBy: nullable.list(
          groupField,
          `What the records are grouped by, at most ${MAX_KEYS} fields or periods. Select the same ` +
            'fields of `key`.',
        ),
        having: nullable.of(having, 'Conditions on the groups, all of which hold.'),
        orderBy: nullable.list(
          orderBy,
          'The order of the groups, by measures and by what they are grouped by.',
        ),
        first: firstOf('The most groups to return, from the start of the order, up to 1,000.'),
      },
      extensions,
      run: aggregate,
    },
    {
      kind: 'query',
      name: `${plural}Distinct`,
      description:
        `${collection.title}: the values that a field has in the records that match, the most frequent ` +
        'first. For filter menus.',
      type: [DistinctValue],
      arguments: {
        field: member.of(groupField, 'The field whose values are listed.'),
        ...condition,
        contains: nullable.text(
          'Only values that contain this text, upper and lower case alike; of a reference, its label. ' +
            'For fields of text and references.',
        ),
        first: firstOf('The most values to return, up to 1,000.'),
      },
      extensions,
      run: distinct,
    },
  ];
}

/** A key that is not grouped by is null in every group, which looks like records without a value. */
function hintAtUngrouped(scope: Scope, { keys: selected }: GroupSelection, keys: readonly KeyField[]): void {
  if (scope.call.onHint === undefined) return;
  const ungrouped = selected.filter((one) => one !== '__typename' && !keys.some(({ name }) => name === one));
  const grouped = keys.map(({ name, enumName }) => `for ${enumName} select \`${name}\``);
  const instead = grouped.length === 0 ? '' : ` In \`key\`, ${grouped.join(', ')}.`;
  for (const name of ungrouped) {
    scope.call.onHint(`\`key.${name}\` is null in every group: groupBy does not name it.${instead}`);
  }
}

/** A group by reference shows one label; of changed labels, the last in alphabetical order. */
function labelOf({ key, value }: KeyField): Measure {
  return value.kind === 'id' ? { kind: 'max', path: labelPath(key.path) } : { kind: 'records' };
}

function labelPath(path: Path): Path {
  return [...path.slice(0, -1), 'label'];
}

function containing(text: string, { key, value, name }: KeyField): Filter {
  const isText = value.kind === 'enum' || (isScalarName(value.kind) && isPlainText(SCALAR_TYPES[value.kind]));
  if (key.of === undefined && (isText || value.kind === 'id')) {
    return { kind: 'contains', path: isText ? key.path : labelPath(key.path), text, isInsensitive: true };
  }
  const detail = `contains fits texts and references of the record itself; ${name} is neither.`;
  throw invalidAt(detail, { parameter: 'contains', expected: 'a field of text, or a reference', sent: name });
}

function toDistinctValue(group: Group, { value }: KeyField): DistinctValue {
  const [stored = null] = group.keys;
  const [count = null, label = null] = group.measures;
  const text = String(stored);
  return {
    value: toOperand(stored, value),
    label: value.kind === 'id' && typeof label === 'string' ? label : text,
    count: Number(String(count)),
  };
}

/** Converts a stored value to an operand of the collection's `where`. */
function toOperand(stored: JsonValue, value: KeyField['value']): JsonValue {
  if (value.kind === 'enum') return value.namesByValue.get(String(stored)) ?? stored;
  const { kind } = value;
  return isScalarName(kind) && SCALAR_FORMS[kind].printed === 'decimal' ? String(stored) : stored;
}

function tooManyKeys(count: number): ServiceError {
  return new ServiceError('LIMIT_EXCEEDED', `groupBy takes at most ${MAX_KEYS} fields, not ${count}.`, {
    errors: [{ parameter: 'groupBy', detail: 'too many keys', expected: `<= ${MAX_KEYS}`, sent: count }],
  });
}

const DistinctValue = objectType('DistinctValue', 'A value that records have, and how many have it.', {
  value: member.json(
    'The value for `equals` of a `where`: the id of a reference, the name of an enum value.',
  ),
  label: member.text('The value to show: the label of a reference, any other value as stored.'),
  count: member.whole('How many of the records have it.'),
});
type DistinctValue = ValueOf<typeof DistinctValue>;

interface GroupOrderByValue {
  /** The name of an enum value. */
  readonly field?: string | null;
  readonly measure?: FieldMeasure | null;
  readonly direction: SortDirection;
}

/** @throws INVALID_VALUE (400) for a key of an order that names neither a measure nor a key of the groups */
function toGroupOrder({ field, measure, direction }: GroupOrderByValue, fields: AggregateFields): GroupOrder {
  if (!field) {
    if (measure === 'count') return { by: { measure: { kind: 'records' } }, direction };
    throw wrong('One key of orderBy has no field, which only the measure COUNT does without.', null);
  }
  if (!measure) {
    const key = fields.keys.find(({ enumName }) => enumName === field);
    if (key) return { by: { key: key.key }, direction };
  }
  const own = fields.own.find(({ enumName }) => enumName === field);
  if (own && measure) return { by: { measure: { kind: measure, path: own.path } }, direction };
  throw wrong(`${field} has no measures: it is not a field of the record itself.`, field);
}

function wrong(detail: string, sent: string | null): ServiceError {
  return invalidAt(detail, {
    parameter: 'orderBy',
    expected: 'a field, a measure of a field, or COUNT',
    sent,
  });
}

type Values = Readonly<Record<string, unknown>>;

/** Counts every part of a condition, combinations included. */
const MAX_PARTS = 100;

/** @throws INVALID_VALUE for null in place of a condition, LIMIT_EXCEEDED for more than 100 parts (400) */
function toFilter(having: Values, fields: AggregateFields, budget: { parts: number }): GroupFilter {
  const filters = Object.entries(having).flatMap(([name, value]): readonly GroupFilter[] => {
    count(budget);
    if (name === 'and' || name === 'or') {
      const parts = toList(value, name).map((part) => toFilter(toValues(part, name), fields, budget));
      return [{ kind: name === 'and' ? 'all' : 'any', filters: parts }];
    }
    if (name === 'not') return [{ kind: 'not', filter: toFilter(toValues(value, name), fields, budget) }];
    if (name === 'count') return toComparisons(value, { kind: 'records' }, budget);
    const field = fields.own.find((one) => one.name === name);
    return Object.entries(toValues(value, name)).flatMap(([measure, condition]) =>
      // The schema allows only the measures of the field.
      toComparisons(condition, { kind: measure as FieldMeasure, path: field?.path ?? [] }, budget),
    );
  });
  return { kind: 'all', filters };
}

function toComparisons(
  condition: unknown,
  measure: Measure,
  budget: { parts: number },
): readonly GroupFilter[] {
  return Object.entries(toValues(condition, measure.kind)).map(([operator, value]) => {
    count(budget);
    if (value === null || value === undefined) throw nothing(operator);
    // The schema allows only the names of comparisons and the values of its scalars.
    return { kind: operator as GroupComparison, measure, value: value as Operand };
  });
}

function count(budget: { parts: number }): void {
  budget.parts += 1;
  if (budget.parts <= MAX_PARTS) return;
  throw new ServiceError('LIMIT_EXCEEDED', `having has more than ${MAX_PARTS} parts.`, {
    errors: [{ parameter: 'having', detail: 'too many conditions', expected: `<= ${MAX_PARTS}` }],
  });
}

function toList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw nothing(name);
}

function toValues(value: unknown, name: string): Values {
  if (typeof value === 'object' && value !== null) return { ...value };
  throw nothing(name);
}

/** Null never means "any". @see decisions 3 */
function nothing(name: string): ServiceError {
  const detail = `"${name}" of having is null: leave it out, or give what it compares with.`;
  return invalidAt(detail, { parameter: 'having', expected: 'a value', sent: null });
}

/** A measure, and the field of a group that shows it. */
interface SelectedMeasure {
  readonly measure: Measure;
  readonly place: readonly [string] | readonly [string, string];
  readonly value: AggregateValue;
}

interface GroupSelection {
  readonly measures: readonly SelectedMeasure[];
  /** The selected fields of `key`, whatever is grouped by. */
  readonly keys: readonly string[];
}

function selectMeasures(
  typed: TypedCollection,
  fields: AggregateFields,
  info: SelectionInfo,
): GroupSelection {
  const { typeName } = typed.object;
  const measures = new Map<string, SelectedMeasure>();
  const keys: string[] = [];
  for (const nodes of selectedFields(`${typeName}Group`, info.fieldNodes, info).values()) {
    const name = nodes[0]?.name.value ?? '';
    if (name === 'key') {
      const selected = selectedFields(`${typeName}GroupKey`, nodes, info).values();
      keys.push(...[...selected].map(([of]) => of?.name.value ?? ''));
    }
    if (name === 'count') measures.set(name, RECORDS);
    const field = fields.own.find((one) => one.name === name);
    if (!field) continue;
    for (const [ofMeasure] of selectedFields(formOf(field.value).typeName, nodes, info).values()) {
      const kind = ofMeasure?.name.value;
      if (!isFieldMeasure(kind)) continue;
      measures.set(`${name} ${kind}`, {
        measure: { kind, path: field.path },
        place: [name, kind],
        value: kind === 'count' || kind === 'countDistinct' ? { kind: 'year' } : field.value,
      });
    }
  }
  return { measures: [...measures.values()], keys };
}

const RECORDS: SelectedMeasure = {
  measure: { kind: 'records' },
  place: ['count'],
  value: { kind: 'year' },
};

/** A group as its type has it: `key` by the names of its fields, the measures of each field by its name. */
function toGroupSource(
  group: Group,
  {
    keys,
    selection,
    fields,
  }: {
    readonly keys: readonly KeyField[];
    readonly selection: GroupSelection;
    readonly fields: AggregateFields;
  },
): object {
  const key = Object.fromEntries(
    keys.map(({ name, value }, index) => [name, toOutput(group.keys[index] ?? null, value)]),
  );
  const source: Record<string, unknown> = { key };
  const members = new Map<string, Record<string, unknown>>();
  for (const { name } of fields.own) {
    const own: Record<string, unknown> = {};
    members.set(name, own);
    source[name] = own;
  }
  selection.measures.forEach(({ place: [name, field], value }, index) => {
    const output = toOutput(group.measures[index] ?? null, value);
    const own = members.get(name);
    if (own && field !== undefined) own[field] = output;
    else source[name] = output;
  });
  return source;
}

/** Converts a value of a group for its scalar. */
function toOutput(json: JsonValue, { kind }: AggregateValue): unknown {
  const isPlainNumber = kind === 'year' || (isScalarName(kind) && SCALAR_FORMS[kind].printed === 'number');
  return isPlainNumber && isExactNumber(json) ? Number(json.toString()) : json;
}
