/**
 * Lays an answer out as tables: every list of objects becomes one, objects within a row become columns
 * (`manager.label`), lists within rows become a further table that repeats the columns of its parent. Needs
 * no browser.
 */
import { getOrMake } from '../../base/process/get-or-make.js';

/** `decimal`: an exact number as text. `list`: values in one cell. */
export type CellKind = 'text' | 'number' | 'decimal' | 'boolean' | 'day' | 'month' | 'instant' | 'list';
export type ResultCell = string | number | boolean | null;

export interface ResultColumn {
  /** The path from the row, e.g. `key.dateMonth`; unique within the table. */
  readonly path: string;
  readonly kind: CellKind;
}

export interface ResultTable {
  /** The path from the answer, e.g. `feeDefaulters.rows`. */
  readonly name: string;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly (readonly ResultCell[])[];
}

/**
 * The tables of an answer in the order of the selection, with lists such as rows and nodes before single
 * values. Lists without a row are left out, unless there is nothing else.
 */
export function tablesOf(data: unknown, shape: FieldShape): readonly ResultTable[] {
  const tables: ResultTable[] = [];
  if (!isObjectOfAnswer(data)) return tables;
  for (const [key, value] of Object.entries(data)) {
    addTables(tables, key, value, shape.fields.get(key) ?? UNKNOWN_LEAF);
  }
  const filled = tables.filter(({ rows }) => rows.length > 0);
  return (filled.length > 0 ? filled : tables).toSorted((a, b) => rank(a) - rank(b));
}

function rank({ name, rows }: ResultTable): number {
  if (/(^|\.)(rows|nodes|edges)$/.test(name)) return 0;
  return rows.length > 1 ? 1 : 2;
}

/** A root field, or an object within it: its own values are a table of one row. */
function addTables(tables: ResultTable[], name: string, value: unknown, shape: FieldShape): void {
  if (Array.isArray(value)) {
    tables.push(...tablesOfList({ name, prefix: '', lists: [{ before: new Map(), list: value }], shape }));
    return;
  }
  const once = new Row();
  once.add(value, shape, '');
  if (once.cells.size > 0) tables.push(tableOf(name, [once]));
  for (const { path, list, shape: inner } of once.lists) {
    const lists = [{ before: new Map(), list }];
    tables.push(...tablesOfList({ name: `${name}.${path}`, prefix: '', lists, shape: inner }));
  }
}

/** Lists of one path, each with the cells of the row that contains it. */
interface PlacedList {
  readonly before: ReadonlyMap<string, TypedCell>;
  readonly list: readonly unknown[];
}

interface ListOfOnePath {
  readonly name: string;
  /** The prefix of the columns of its elements, which follow the columns of the containing row. */
  readonly prefix: string;
  readonly lists: readonly PlacedList[];
  readonly shape: FieldShape;
}

function tablesOfList({ name, prefix, lists, shape }: ListOfOnePath): ResultTable[] {
  const element: FieldShape = { ...shape, isList: false };
  const within = new Map<string, { readonly shape: FieldShape; readonly lists: PlacedList[] }>();
  const rows: Row[] = [];
  for (const { before, list } of lists) {
    for (const value of list) {
      const row = new Row(before);
      row.add(
        value,
        element,
        element.fields.size === 0 && !isObjectOfAnswer(value) ? join(prefix, 'value') : prefix,
      );
      rows.push(row);
      for (const { path, list: inner, shape: innerShape } of row.lists) {
        const { lists: known } = getOrMake(within, path, () => ({ shape: innerShape, lists: [] }));
        known.push({ before: row.cells, list: inner });
      }
    }
  }
  const model = new Row(lists[0]?.before);
  if (element.fields.size > 0) model.add(null, element, prefix);
  const inner = [...within].flatMap(([path, { shape: innerShape, lists: placed }]) =>
    tablesOfList({
      name: join(name, prefix === '' ? path : path.slice(prefix.length + 1)),
      prefix: path,
      lists: placed,
      shape: innerShape,
    }),
  );
  return [tableOf(name, rows, model), ...inner];
}

interface TypedCell {
  readonly value: ResultCell;
  readonly type: string | undefined;
  readonly isList: boolean;
}

/** A row that is being laid out. */
class Row {
  readonly cells: Map<string, TypedCell>;
  readonly lists: { readonly path: string; readonly list: readonly unknown[]; readonly shape: FieldShape }[] =
    [];

  constructor(before: ReadonlyMap<string, TypedCell> = new Map()) {
    this.cells = new Map(before);
  }

  add(value: unknown, shape: FieldShape, path: string): void {
    if (Array.isArray(value) && (shape.fields.size > 0 || value.some(isObjectOfAnswer))) {
      this.lists.push({ path, list: value, shape });
    } else if (shape.fields.size > 0) {
      if (shape.isList) return;
      for (const [key, inner] of shape.fields)
        this.add(isObjectOfAnswer(value) ? value[key] : null, inner, join(path, key));
    } else if (isObjectOfAnswer(value)) {
      for (const [key, inner] of Object.entries(value)) this.add(inner, UNKNOWN_LEAF, join(path, key));
    } else {
      this.cells.set(path, { value: toCell(value), type: shape.type, isList: Array.isArray(value) });
    }
  }
}

function toCell(value: unknown): ResultCell {
  if (Array.isArray(value)) return value.map((element) => String(toCell(element) ?? '')).join(', ');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return null;
}

function tableOf(name: string, rows: readonly Row[], model?: Row): ResultTable {
  const paths = new Set(model?.cells.keys());
  for (const row of rows) for (const path of row.cells.keys()) paths.add(path);
  // A value that is an object in some rows has columns of its own, so its empty column is dropped.
  const kept = [...paths].filter((path) => {
    const isEmpty = rows.length > 0 && rows.every((row) => (row.cells.get(path)?.value ?? null) === null);
    return !isEmpty || ![...paths].some((other) => other.startsWith(`${path}.`));
  });
  return {
    name,
    columns: kept.map((path) => ({ path, kind: kindOf(path, rows, model) })),
    rows: rows.map((row) => kept.map((path) => row.cells.get(path)?.value ?? null)),
  };
}

const KINDS: ReadonlyMap<string | undefined, CellKind> = new Map([
  ['Int', 'number'],
  ['Float', 'number'],
  ['Decimal', 'decimal'],
  ['Boolean', 'boolean'],
  ['LocalDate', 'day'],
  ['Month', 'month'],
  ['DateTime', 'instant'],
]);

/** The kind follows from the type of the field or, for JSON and texts that may be days, from the values. */
function kindOf(path: string, rows: readonly Row[], model: Row | undefined): CellKind {
  const cells = [...rows.map((row) => row.cells.get(path)), model?.cells.get(path)].filter(
    (cell) => cell !== undefined,
  );
  if (cells.some(({ isList }) => isList)) return 'list';
  const declared = KINDS.get(cells.find(({ type }) => type !== undefined)?.type);
  if (declared) return declared;
  const values = cells.map(({ value }) => value).filter((value) => value !== null);
  if (values.length === 0) return 'text';
  if (values.every((value) => typeof value === 'number')) return 'number';
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  const all = (pattern: RegExp) => values.every((value) => typeof value === 'string' && pattern.test(value));
  if (all(/^\d{4}-\d\d-\d\d$/)) return 'day';
  if (all(/^\d{4}-(0[1-9]|1[0-2])$/)) return 'month';
  if (all(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)) return 'instant';
  return 'text';
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

export function isObjectOfAnswer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The selection of a document as a tree of fields by response key: enough to lay the answer out as tables.
 * Imports nothing, so that its users need not load the GraphQL parser.
 */
export interface FieldShape {
  /** The name of its type without list and non-null; `undefined` without a schema. */
  readonly type: string | undefined;
  readonly isList: boolean;
  /** The fields by response key; empty for a leaf. */
  readonly fields: ReadonlyMap<string, FieldShape>;
}

export const UNKNOWN_LEAF: FieldShape = { type: undefined, isList: false, fields: new Map() };
