/**
 * The cells of a sheet as texts, and the records that they become. A sheet is declared in schema/sheets; its
 * cells are fields of the record, or the items of one part of it (the components of a subject).
 */

import type { SheetDeclaration, SheetParts, SheetValue } from '../../../school/sheets/sheet-definition.js';

type Data = Readonly<Record<string, unknown>>;

export interface SheetRecord {
  readonly id: string;
  readonly version: number;
  readonly data: Data;
}

export interface SheetMember {
  readonly id: string;
  readonly data: Data;
}

export interface SheetColumn {
  readonly name: string;
  /** `choice`: one of the values. `score`: a number up to `max`, or one of the values. */
  readonly kind: 'choice' | 'text' | 'score';
  readonly values: readonly SheetValue[];
  readonly max?: number;
  readonly weight?: number;
}

/** The columns of a sheet. `part` is the chosen part as one of the records has it. */
export function sheetColumns({ cells = [], parts }: SheetDeclaration, part: Data | undefined): SheetColumn[] {
  if (!parts)
    return cells.map(({ field, values = [] }) => ({
      name: field,
      kind: values.length > 0 ? 'choice' : 'text',
      values,
    }));
  return listOf(part?.[parts.items]).map((item) => ({
    name: String(item[parts.item]),
    kind: 'score',
    values: parts.states,
    max: Number(item[parts.max]),
    weight: parts.weight === undefined ? 1 : Number(item[parts.weight]),
  }));
}

/** Every part that the records have, the first of each name. */
export function sheetParts(
  { parts }: SheetDeclaration,
  records: readonly SheetRecord[],
): ReadonlyMap<string, Data> {
  if (!parts) return new Map();
  const all = records.flatMap(({ data }) => listOf(data[parts.list]));
  return new Map(all.toReversed().map((part) => [String(part[parts.name]), part]));
}

/** The text of a cell as it is stored; of a member without a record, the first value of a choice. */
export function storedText(
  { parts }: SheetDeclaration,
  column: SheetColumn,
  { record, part }: { readonly record: SheetRecord | undefined; readonly part: string },
): string {
  if (!parts) return String(record?.data[column.name] ?? (record ? '' : (column.values[0]?.value ?? '')));
  const found = listOf(record?.data[parts.list]).find((one) => one[parts.name] === part);
  const item = listOf(found?.[parts.items]).find((one) => one[parts.item] === column.name);
  if (item?.[parts.state] === parts.scored) return String(item[parts.value] ?? '');
  return column.values.find(({ value }) => value === item?.[parts.state])?.value ?? '';
}

/** The value that a typed or pasted text stands for; `undefined` if the cell cannot have it. */
export function parseCell(
  { kind, values, max = Number.POSITIVE_INFINITY }: SheetColumn,
  typed: string,
  wordOf: (value: string) => string,
): string | undefined {
  const text = typed.trim();
  if (kind === 'text') return text;
  const folded = text.toLowerCase();
  const known = values.find(({ value, key }) =>
    [value, key, wordOf(value).toLowerCase()].includes(folded),
  )?.value;
  if (known !== undefined || kind === 'choice') return known;
  if (text === '') return '';
  const plain = text.replaceAll(/[०-९]/g, (digit) => String(digit.charCodeAt(0) - 0x0966));
  return /^\d{1,6}(\.\d{1,4})?$/.test(plain) && Number(plain) <= max ? String(Number(plain)) : undefined;
}

/** The value after a tap. */
export function nextValue({ values }: SheetColumn, value: string): string {
  const place = values.findIndex((one) => one.value === value);
  return values[(place + 1) % values.length]?.value ?? value;
}

/** The rows and cells of a text from a spreadsheet. */
export function splitPasted(text: string): readonly (readonly string[])[] {
  return text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => line.split('\t'));
}

/** Sum, greatest sum and percent of a row, as the grade book computes them. Percent waits for every cell. */
export function totalOf(columns: readonly SheetColumn[], texts: readonly string[], exempt = 'exempt') {
  const counted = columns.flatMap((column, index) => {
    const text = texts[index] ?? '';
    return text === exempt ? [] : [{ ...column, text, marks: Number(text) || 0 }];
  });
  const sum = counted.reduce((all, { marks }) => all + marks, 0);
  const max = counted.reduce((all, one) => all + (one.max ?? 0), 0);
  const weights = counted.reduce((all, { weight = 1 }) => all + weight, 0);
  const points = counted.reduce((all, one) => all + (one.marks * (one.weight ?? 1)) / (one.max ?? 1), 0);
  const isWhole = weights > 0 && counted.every(({ text }) => text !== '');
  return { sum, max, percent: isWhole ? Math.round((10_000 * points) / weights) / 100 : undefined };
}

export interface SheetToSave {
  readonly declaration: SheetDeclaration;
  readonly columns: readonly SheetColumn[];
  readonly members: readonly SheetMember[];
  readonly recordsByMember: ReadonlyMap<string, SheetRecord>;
  /** The changed cells, by `cellKey`. */
  readonly changes: Data;
  /** The fields that all rows have in common: the day, the chosen values, and who saves. */
  readonly common: Data;
  readonly part: { readonly name: string; readonly example: Data | undefined };
}

export function cellKey(memberId: string, column: string): string {
  return `${memberId} ${column}`;
}

/**
 * The records to store: those that changed and, of a sheet whose cells are prefilled, those of all members
 * without a record.
 */
export function recordsToSave({ declaration, columns, members, recordsByMember, ...sheet }: SheetToSave) {
  const { member: reference, copy = {}, day, parts } = declaration;
  return members.flatMap((member): Data[] => {
    const record = recordsByMember.get(member.id);
    const changed = columns.filter(({ name }) => cellKey(member.id, name) in sheet.changes);
    const isPrefilled = columns.some(({ kind }) => kind === 'choice');
    if (changed.length === 0 && (record !== undefined || !isPrefilled)) return [];
    const part = sheet.part.name;
    const textOf = (column: SheetColumn) =>
      String(
        sheet.changes[cellKey(member.id, column.name)] ?? storedText(declaration, column, { record, part }),
      );
    const copied = Object.entries(copy).map(([to, from]) => [to, member.data[from]]);
    const cells = parts
      ? { [parts.list]: withPart({ parts, part: sheet.part, columns, record, textOf }) }
      : Object.fromEntries(
          columns
            .map((column) => [column.name, textOf(column) || null] as const)
            .filter(([, value]) => record !== undefined || value !== null),
        );
    return [
      {
        ...Object.fromEntries(copied),
        ...sheet.common,
        ...(day !== undefined && record !== undefined && { [day]: record.data[day] }),
        [reference]: { value: member.id },
        ...cells,
      },
    ];
  });
}

/** The parts of a record with the cells of one of them; the others stay as they are. */
function withPart({
  parts,
  part: { name, example },
  columns,
  record,
  textOf,
}: {
  readonly parts: SheetParts;
  readonly part: SheetToSave['part'];
  readonly columns: readonly SheetColumn[];
  readonly record: SheetRecord | undefined;
  readonly textOf: (column: SheetColumn) => string;
}): readonly Data[] {
  const all = listOf(record?.data[parts.list]);
  const own = all.find((one) => one[parts.name] === name) ?? example ?? {};
  const items = listOf(own[parts.items]).map((item): Data => {
    const column = columns.find((one) => one.name === item[parts.item]);
    if (!column) return item;
    const text = textOf(column);
    const { [parts.value]: _before, ...others } = item;
    if (text === '') return { ...others, [parts.state]: parts.empty };
    if (column.values.some(({ value }) => value === text)) return { ...others, [parts.state]: text };
    return { ...others, [parts.state]: parts.scored, [parts.value]: Number(text) };
  });
  const changed = { ...own, [parts.name]: name, [parts.items]: items };
  const isThere = all.some((one) => one[parts.name] === name);
  return isThere ? all.map((one) => (one[parts.name] === name ? changed : one)) : [...all, changed];
}

function listOf(value: unknown): readonly Data[] {
  return Array.isArray(value) ? value : [];
}
