/** Makes a record from a row of a file, by a mapping. */
import { type ErrorDetail, tryTo } from '../../../base/errors.js';
import {
  ExactNumber,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  setMember,
} from '../../../base/json/json.js';
import type { Collection } from '../../../base/model/collection.js';
import { toNormalText } from '../../../base/model/normal-text.js';
import type { Path } from '../../../base/model/path.js';
import { parseDayCell, parseInstantCell, parseMonthCell, parseSessionCell } from '../cells/day-cell.js';
import {
  type CellPart,
  type DayFormat,
  type InstantFormat,
  type NumberFormat,
  partOfCell,
} from '../cells/day-formats.js';
import {
  CellFault,
  isBlankCell,
  isNestedCell,
  parseBooleanCell,
  parseNumberCell,
  parseTextCell,
  spreadsheetDamageOf,
  textOfCell,
  UNDAMAGED,
} from '../cells/plain-cells.js';
import type { ColumnMapping, ImportMapping } from '../import-mapping.js';
import { type MappingTarget, targetOf } from '../mapping-target.js';

/** An error of a row, with its column. */
export interface RowFault extends ErrorDetail {
  readonly column?: string;
}

/** A reference whose target is identified by another field than `_id`. */
export interface Lookup {
  readonly target: string;
  readonly field: string;
  readonly text: string;
  readonly column: string;
  /** Puts the `_id` into the record. */
  readonly settle: (id: string) => void;
}

export interface MappedRow {
  readonly record: JsonObject;
  /** The top-level fields that an existing record loses; `undefined`: none, as for most rows. */
  readonly removed: ReadonlySet<string> | undefined;
  readonly lookups: readonly Lookup[];
  readonly faults: readonly RowFault[];
}

type RowMapper = (values: Readonly<Record<string, unknown>>) => MappedRow;

/** The fields of which the file has only some members. */
export function partialFields(mapping: ImportMapping, collection: Collection): ReadonlySet<string> {
  const names = [...mapping.columns.map(({ field }) => field), ...Object.keys(mapping.fixed)]
    .map((field) => field?.split('.') ?? [])
    .filter(({ length }) => length > 1)
    .map(([name = '']) => name);
  return new Set(names.filter((name) => isOpenObject(collection, name)));
}

function isOpenObject({ fieldsByName }: Collection, name: string): boolean {
  const field = fieldsByName.get(name);
  return field === undefined || (field.type === 'object' && !field.isList);
}

/** The name of the column that a pointer into the record leads to. */
export function columnFinder(mapping: ImportMapping): (pointer: string | undefined) => string | undefined {
  const byPath = new Map(
    mapping.columns.flatMap(({ column, field }): [string, string][] =>
      field === null ? [] : [[field, column]],
    ),
  );
  return (pointer) => {
    const steps = (pointer ?? '').split('/').slice(1);
    // A reference is mapped as its value, or by another field of its target.
    if (steps.length > 1 && steps.at(-1) === 'value') steps.pop();
    for (let length = steps.length; length > 0; length -= 1) {
      const path = steps.slice(0, length).join('.');
      const column = byPath.get(path) ?? byPath.get(`${path}.value`);
      if (column !== undefined) return column;
      const prefix = `${path}.`;
      for (const [field, one] of byPath) if (length === steps.length && field.startsWith(prefix)) return one;
    }
    return undefined;
  };
}

/** `documents`: a null member sets the field to null. */
export function createRowMapper(
  mapping: ImportMapping,
  collection: Collection,
  { of, timeZone }: { readonly of: 'table' | 'documents'; readonly timeZone: string },
): RowMapper {
  const isIdentified = mapping.columns.some(({ field }) => field === '_id');
  const columns = mapping.columns.flatMap(({ field, blank = [], ...one }): ReadColumn[] => {
    if (field === null) return [];
    const blanks = new Set(blank.map((text) => text.trim().toLowerCase()));
    const { unit, bounds, default: byDefault } = collection.fieldsByName.get(field) ?? {};
    const isStamped = of === 'table' && byDefault === 'now' && !isIdentified;
    const isPercentage = unit?.startsWith('%') === true;
    const target = targetOf(field, one.by, collection);
    const hasStep = of === 'table' && bounds?.multipleOf !== undefined;
    return [{ ...one, target, of, timeZone, blanks, isStamped, isPercentage, hasStep }];
  });
  // For each number in percent or another unit, the rule for when it is in percent.
  const percentages = mapping.columns.flatMap(({ column, field }) =>
    collection.checks.flatMap((one) => {
      if (one.kind !== 'when' || one.holds.field !== field) return [];
      return collection.fieldsByName.get(field)?.unit?.startsWith('% or ') ? [{ ...one, column }] : [];
    }),
  );
  const named = new Set(mapping.columns.map(({ column }) => column));
  const fixed = Object.entries(mapping.fixed).map(([field, value]) => ({ path: field.split('.'), value }));
  const references = new Set(
    collection.fields.filter(({ type }) => type === 'reference').map(({ name }) => name),
  );
  const keepsOthers = mapping.others !== 'leave out';
  return (values) => {
    const row: Row = { record: {}, removed: undefined, references, lookups: [], faults: [] };
    for (const column of columns) {
      const whole = Object.hasOwn(values, column.column) ? values[column.column] : undefined;
      const value = column.part === undefined ? whole : ofPart(whole, column.part, of);
      if (value instanceof CellFault) refuseOnce(row, misfit(column, whole, value.expected));
      else fill(row, column, value);
    }
    if (keepsOthers) {
      for (const name of Object.keys(values)) {
        if (!named.has(name)) setMember(row.record, name, values[name] as JsonValue);
      }
    }
    for (const { path, value } of fixed) put(row.record, path, value);
    for (const { field, is, column } of percentages) {
      const [kind, cell] = [row.record[field], String(values[column])];
      if (typeof kind === 'string' && !is.includes(kind) && PERCENTAGE.test(cell))
        row.faults.push(misfit({ column }, cell, `a number without % where ${field} is ${kind}`));
    }
    return row;
  };
}

/** An empty part is like an empty cell: `undefined` for documents, because their null is a value. */
function ofPart(whole: unknown, part: CellPart, of: ReadColumn['of']): unknown {
  if (isBlankCell(whole)) return whole;
  const value = isNestedCell(whole) ? undefined : partOfCell(textOfCell(whole), part);
  if (value === undefined)
    return new CellFault(
      part.separator === ''
        ? `a text of ${part.of} parts, of digits and of letters by turns`
        : `a text of ${part.of} parts with ${JSON.stringify(part.separator)} between them`,
    );
  if (value !== '') return value;
  return of === 'table' ? null : undefined;
}

/** Reports a cell that cannot be split once, not for each of its parts. */
function refuseOnce({ faults }: Row, fault: RowFault): void {
  if (!faults.some(({ detail }) => detail === fault.detail)) faults.push(fault);
}

interface Row {
  readonly record: { [name: string]: JsonValue };
  removed: Set<string> | undefined;
  /** The top-level references of the collection. */
  readonly references: ReadonlySet<string>;
  readonly lookups: Lookup[];
  readonly faults: RowFault[];
}

/** A column that is not skipped, with everything needed to read its cells. */
interface ReadColumn extends Omit<ColumnMapping, 'field' | 'blank'> {
  readonly target: MappingTarget;
  /** Cells that count as empty, in lower case. */
  readonly blanks: ReadonlySet<string>;
  readonly of: 'table' | 'documents';
  readonly timeZone: string;
  /** Whether a record without a value from this column would get the time of the import. */
  readonly isStamped: boolean;
  /** Whether `10%` is 10. */
  readonly isPercentage: boolean;
  /** Whether a sum of a spreadsheet, 0.30000000000000004, is read with the 15 digits it shows. */
  readonly hasStep: boolean;
}

function fill(row: Row, column: ReadColumn, sent: unknown): void {
  const { target, of } = column;
  const { value, isMeant } = translate(sent, column);
  if (value === undefined || value === null || (value === '' && (of === 'table' || !isText(target)))) {
    // An empty cell changes nothing; an explicit null does.
    if (column.isStamped && !isMeant) row.faults.push(misfit(column, sent, NOT_NOW));
    else if (value === null && (isMeant || of === 'documents')) empty(row, target, 'null');
    else if (column.empty === 'remove' && sent !== undefined) empty(row, target, 'removed');
    return;
  }
  const damage = isMeant || of !== 'table' ? undefined : spreadsheetDamageOf(value, isNumeric(target));
  if (damage !== undefined) {
    const { detail, ...fault } = misfit(column, value, UNDAMAGED);
    const cell = `${column.column}: ${JSON.stringify(fault.sent)}`;
    const text =
      damage === 'error'
        ? `${cell} is an error of a spreadsheet`
        : `${cell} is a number that a spreadsheet has shortened`;
    row.faults.push({ ...fault, detail: text });
    return;
  }
  switch (target.kind) {
    case 'id':
      row.record._id =
        typeof value === 'number' || isExactNumber(value) ? String(value) : (value as JsonValue);
      return;
    case 'rest':
      mergeRest(row, column, value);
      return;
    case 'undeclared':
      put(row.record, target.path, value as JsonValue);
      return;
    case 'reference':
      fillReference(row, column, target, value as JsonValue);
      return;
    case 'value': {
      const { kind, isList, path } = target.column;
      const made = isList || kind === 'json' ? ofJson(value) : ofCell(shownIn(value, column), kind, column);
      if (made instanceof CellFault) row.faults.push(misfit(column, value, made.expected));
      else put(row.record, path, made);
    }
  }
}

function shownIn(cell: unknown, { isPercentage, hasStep }: ReadColumn): unknown {
  if (hasStep && typeof cell === 'number') return Number(cell.toPrecision(15));
  return (isPercentage && typeof cell === 'string' ? PERCENTAGE.exec(cell)?.[1] : undefined) ?? cell;
}

const NOT_NOW = 'a value (the time of the import would take its place)';
const PERCENTAGE = /^\s*(\S+?)\s*%\s*$/;

function isText(target: MappingTarget): boolean {
  return target.kind === 'value' && target.column.kind === 'text' && !target.column.isList;
}

/** Whether the field takes a number in any notation. Fields that are not declared do. */
function isNumeric(target: MappingTarget): boolean {
  if (target.kind === 'value') return target.column.kind === 'number' || target.column.kind === 'decimal';
  return target.kind === 'undeclared' || target.kind === 'rest';
}

function translate(
  sent: unknown,
  { values, blanks, of }: ReadColumn,
): { readonly value: unknown; readonly isMeant: boolean } {
  if (values === undefined && blanks.size === 0) return { value: sent, isMeant: false };
  const text = String(sent ?? '');
  if (values !== undefined && Object.hasOwn(values, text)) return { value: values[text], isMeant: true };
  if (!blanks.has(text.trim().toLowerCase())) return { value: sent, isMeant: false };
  return { value: of === 'table' ? null : undefined, isMeant: false };
}

/** A removed member of an object becomes null, so that the object itself stays. */
function empty(row: Row, target: MappingTarget, how: 'removed' | 'null'): void {
  if (target.kind === 'id' || target.kind === 'rest') return;
  const path = target.kind === 'value' ? target.column.path : target.path;
  const [name = '', ...rest] = path;
  const isWhole = rest.length === 0 || target.kind === 'reference' || row.references.has(name);
  if (how === 'null' || !isWhole) put(row.record, path, null);
  else {
    row.removed ??= new Set();
    row.removed.add(name);
  }
}

function mergeRest(row: Row, column: ReadColumn, value: unknown): void {
  const rest = typeof value === 'string' ? parseJson(value) : (value as JsonValue);
  if (isJsonObject(rest)) mergeInto(row.record, rest);
  else row.faults.push(misfit(column, value, 'the JSON text of an object'));
}

function mergeInto(record: { [name: string]: JsonValue }, rest: JsonObject): void {
  for (const [name, value] of Object.entries(rest)) {
    const there = Object.hasOwn(record, name) ? record[name] : undefined;
    if (isJsonObject(there) && isJsonObject(value)) {
      const merged = { ...there };
      mergeInto(merged, value);
      setMember(record, name, merged);
    } else setMember(record, name, value);
  }
}

function fillReference(
  row: Row,
  column: ReadColumn,
  target: Extract<MappingTarget, { kind: 'reference' }>,
  value: JsonValue,
): void {
  const { path, by, targets, isList } = target;
  if (by === undefined) {
    const sent = typeof value === 'string' && (isList || value.startsWith('{')) ? parseJson(value) : value;
    put(row.record, path, sent ?? value);
    return;
  }
  const [name] = targets;
  if (name === undefined) return;
  const text = toNormalText(String(value));
  const settle = (id: string) => put(row.record, path, isList ? [{ value: id }] : { value: id });
  row.lookups.push({ target: name, field: by, text, column: column.column, settle });
}

/** Sets a member at any depth, also one called `__proto__`. */
function put(record: { [name: string]: JsonValue }, path: Path, value: JsonValue, step = 0): void {
  const name = path[step] ?? '';
  if (step + 1 >= path.length) {
    setMember(record, name, value);
    return;
  }
  const there = Object.hasOwn(record, name) ? record[name] : undefined;
  const inner: { [name: string]: JsonValue } = isJsonObject(there) ? { ...there } : {};
  put(inner, path, value, step + 1);
  setMember(record, name, inner);
}

type Kind = Extract<MappingTarget, { kind: 'value' }>['column']['kind'];

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** Reads a cell. Cells in the formats of our own exports take the short way. */
function ofCell(
  cell: unknown,
  kind: Kind,
  { format, timeZone }: Pick<ReadColumn, 'format' | 'timeZone'>,
): JsonValue | CellFault {
  switch (kind) {
    case 'number':
    case 'decimal':
      return numberOf(cell) ?? parseNumberCell(cell, format as NumberFormat | undefined);
    case 'boolean':
      return parseBooleanCell(cell);
    case 'date':
      if (typeof cell === 'string' && DAY.test(cell)) return cell;
      return parseDayCell(cell, (format ?? 'YYYY-MM-DD') as DayFormat, timeZone);
    case 'datetime':
      if (typeof cell === 'string' && INSTANT.test(cell)) return cell;
      return parseInstantCell(cell, (format ?? 'YYYY-MM-DD') as InstantFormat, timeZone);
    case 'month':
      return parseMonthCell(cell);
    case 'session':
      return parseSessionCell(cell);
    default:
      return parseTextCell(cell);
  }
}

/** A number with all its written digits. */
function numberOf(cell: unknown): JsonValue | undefined {
  if (typeof cell !== 'string' || !NUMBER.test(cell)) return undefined;
  const number = Number(cell);
  return String(number) === cell ? number : new ExactNumber(cell);
}

function ofJson(cell: unknown): JsonValue | CellFault {
  if (typeof cell !== 'string') return cell as JsonValue;
  return parseJson(cell) ?? new CellFault('JSON text, e.g. ["a","b"]');
}

function parseJson(text: string): JsonValue | undefined {
  return tryTo(() => parseExactJson(text));
}

const MOST_SHOWN = 100;

function misfit({ column }: Pick<ReadColumn, 'column'>, sent: unknown, expected: string): RowFault {
  const text = textOfCell(sent);
  const shown = text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
  return {
    column,
    detail: `${column}: ${expected} is expected, not ${JSON.stringify(shown)}`,
    expected,
    sent: shown,
  };
}
