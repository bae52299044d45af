/**
 * Prints records in a requested shape from the JSON text of the whole records.
 *
 * For PostgreSQL, extracting a value, checking its type and printing it takes longer than printing the whole
 * document; here the value is a slice of the text that is copied.
 */
import { objectMarks } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import type { EnumShape, ListShape, Member, PageShape, Shape } from '../sql/shape.js';
import { type Sql, sql } from '../sql.js';
import { endOfValue, isAt, MemberFinder } from './member-finder.js';

/** Prints the record at the cursor. */
export type RecordPrinter = (out: TextBuilder, record: RecordCursor) => void;

/** The text around the records of a list: before all, between two, after each, after all. */
export interface ListMarks {
  readonly start: string;
  readonly separator: string;
  readonly behindEach: string;
  readonly end: string;
}

export interface PrintedList {
  readonly text: Buffer;
  readonly count: number;
}

/** Prints the records one after the other. */
export function printRecordTexts(texts: RecordTexts, print: RecordPrinter, marks: ListMarks): PrintedList {
  // The output for a record is rarely longer than its fields, its id and the marks around it.
  const out = new TextBuilder((texts.fields?.length ?? 0) + (texts.ids?.length ?? 0) * 2 + 64);
  const count = printListInto(out, texts, { print, marks });
  return { text: out.take(), count };
}

function printListInto(
  out: TextBuilder,
  texts: RecordTexts,
  { print, marks }: { readonly print: RecordPrinter; readonly marks: ListMarks },
): number {
  const [separator, behindEach] = [Buffer.from(marks.separator), Buffer.from(marks.behindEach)];
  let count = 0;
  out.append(Buffer.from(marks.start));
  const record = new RecordCursor(texts);
  while (record.next()) {
    if (count > 0) out.append(separator);
    print(out, record);
    out.append(behindEach);
    count += 1;
  }
  out.append(Buffer.from(marks.end));
  return count;
}

/** Prints a whole record, its id first. */
export function printWhole(
  out: TextBuilder,
  { ids, idStart, idEnd, fields, start, end }: RecordCursor,
): void {
  out.append(ID_MEMBER);
  out.appendPart(ids, idStart, idEnd);
  if (end - start > EMPTY_LENGTH) out.append(SEPARATOR);
  out.appendPart(fields, start + 1, end);
}

const ID_MEMBER = Buffer.from('{"_id": ');
const SEPARATOR = Buffer.from(', ');
const EMPTY_LENGTH = '{}'.length;

/**
 * Creates a printer with the same output as `compileObject`. `undefined` if PostgreSQL must print the shape,
 * because it shows something other than the record's fields, or too few of them.
 */
export function createShapePrinter(
  members: readonly Member[],
  collection: Collection,
): RecordPrinter | undefined {
  const names = new Set(members.flatMap(({ shape }) => ('path' in shape ? shape.path.slice(0, 1) : [])));
  if (!isMostOf([...names], collection)) return undefined;
  const print = createObjectPrinter(members);
  return print && ((out, record) => print({ out, record }, record.start));
}

export type PagePrinter = (texts: RecordTexts) => Buffer;

/**
 * Creates a printer with the same output as `compilePage`; `undefined` if the page shows more than records.
 */
export function createPagePrinter(shape: PageShape, collection: Collection): PagePrinter | undefined {
  const parts: ((out: TextBuilder, texts: RecordTexts) => void)[] = [];
  const marksOfKeys = objectMarks(shape.members.map(({ key }) => key));
  const end = Buffer.from(marksOfKeys.end);
  for (const [index, member] of shape.members.entries()) {
    const key = marksOfKeys.before[index] ?? '';
    if (member.kind === 'constant') {
      const text = Buffer.from(key + JSON.stringify(member.text));
      parts.push((out) => out.append(text));
      continue;
    }
    const print = member.kind === 'records' ? createShapePrinter(member.members, collection) : undefined;
    if (print === undefined) return undefined;
    const marks = { start: `${key}[`, separator: ',', behindEach: '', end: ']' };
    parts.push((out, texts) => printListInto(out, texts, { print, marks }));
  }
  return (texts) => {
    const out = new TextBuilder(((texts.fields?.length ?? 0) + (texts.ids?.length ?? 0)) * 2);
    for (const part of parts) part(out, texts);
    out.append(end);
    return out.take();
  };
}

/**
 * Whether the shape needs so many declared fields that reading whole records pays. For a collection without
 * declared fields, their size is unknown.
 */
function isMostOf(names: readonly string[], { fields }: Collection): boolean {
  return fields.length > 0 && names.length * 2 >= fields.length;
}

/** The record being printed, and the output. */
interface Work {
  readonly out: TextBuilder;
  readonly record: RecordCursor;
}

/** Prints a value in the fields of a record; `start` is -1 if it is missing. */
type ValuePrinter = (work: Work, start: number, end: number) => void;
type ObjectPrinter = (work: Work, start: number) => void;

const NULL = Buffer.from('null');

function createObjectPrinter(members: readonly Member[]): ObjectPrinter | undefined {
  const finder = finderOf(members);
  if (finder === undefined) return undefined;
  const parts: { readonly before: Buffer; readonly index: number; readonly print: ValuePrinter }[] = [];
  const marks = objectMarks(members.map(({ key }) => key));
  const behind = Buffer.from(marks.end);
  for (const [at, { shape }] of members.entries()) {
    const print = createMemberPrinter(shape);
    if (print === undefined) return undefined;
    const before = Buffer.from(marks.before[at] ?? '');
    parts.push({ before, index: 'path' in shape ? finder.names.indexOf(shape.path[0] ?? '') : -1, print });
  }
  return (work, start) => {
    const { out } = work;
    finder.find(work.record.fields, start);
    for (const { before, index, print } of parts) {
      out.append(before);
      print(work, finder.starts[index] ?? -1, finder.ends[index] ?? -1);
    }
    out.append(behind);
  };
}

/** Finds the first step of each path; `undefined` if one cannot be found, or is the object itself. */
function finderOf(members: readonly Member[]): MemberFinder | undefined {
  const names: string[] = [];
  for (const { shape } of members) {
    if (!('path' in shape)) continue;
    const [name] = shape.path;
    if (name === undefined || !MemberFinder.isFindable(name)) return undefined;
    names.push(name);
  }
  return new MemberFinder(names);
}

/** Prints a member of an object whose first step has been found. */
function createMemberPrinter(shape: Shape): ValuePrinter | undefined {
  if (shape.kind === 'id') return printId;
  if (shape.kind === 'nodeId') return createNodeIdPrinter(shape.prefix);
  if (shape.kind === 'constant') {
    const text = Buffer.from(JSON.stringify(shape.text));
    return ({ out }) => out.append(text);
  }
  if (!('path' in shape)) return undefined;
  return createPathPrinter(shape.path.slice(1), shape);
}

function printId({ out, record: { ids, idStart, idEnd } }: Work): void {
  out.appendPart(ids, idStart, idEnd);
}

/** The id is JSON, so the prefix goes after its opening quotation mark. */
function createNodeIdPrinter(prefix: string): ValuePrinter {
  const start = Buffer.from(JSON.stringify(prefix).slice(0, -1));
  return ({ out, record: { ids, idStart, idEnd } }) => {
    out.append(start);
    out.appendPart(ids, idStart + 1, idEnd);
  };
}

/** Follows the remaining steps of a path from a value. */
function createPathPrinter([step, ...rest]: Path, shape: Shape): ValuePrinter | undefined {
  if (step === undefined) return createValuePrinter(shape);
  const print = createPathPrinter(rest, shape);
  if (print === undefined || !MemberFinder.isFindable(step)) return undefined;
  const finder = new MemberFinder([step]);
  return (work, start) => {
    const { fields } = work.record;
    if (fields[start] === OPEN_OBJECT) {
      finder.find(fields, start);
      print(work, finder.starts[0] ?? -1, finder.ends[0] ?? -1);
    } else print(work, -1, -1);
  };
}

/** Prints a value that was found, or null if its type does not match the shape. */
function createValuePrinter(shape: Shape): ValuePrinter | undefined {
  switch (shape.kind) {
    case 'text':
    case 'number':
    case 'boolean':
      return printedIf(TYPE_TESTS[shape.kind], printText);
    case 'decimal':
      return printedIf(isNumber, (work, start, end) => {
        work.out.append(QUOTE_MARK);
        printText(work, start, end);
        work.out.append(QUOTE_MARK);
      });
    case 'json':
      return printedIf((first) => first !== undefined, printText);
    case 'enum':
      return createEnumPrinter(shape);
    case 'object': {
      const print = createObjectPrinter(shape.members);
      return print && printedIf(isObject, print);
    }
    case 'list':
      return createListPrinter(shape);
    default:
      return undefined;
  }
}

/** Tests the type of a value by its first byte; `undefined` if the value is missing. */
type TypeTest = (first: number | undefined) => boolean;

function printedIf(isOfType: TypeTest, print: ValuePrinter): ValuePrinter {
  return (work, start, end) => {
    if (isOfType(work.record.fields[start])) print(work, start, end);
    else work.out.append(NULL);
  };
}

function printText({ out, record }: Work, start: number, end: number): void {
  out.appendPart(record.fields, start, end);
}

const QUOTE_MARK = Buffer.from('"');
const [QUOTE, OPEN_OBJECT, OPEN_LIST, MINUS, ZERO, NINE, T, F, N] = [...Buffer.from('"{[-09tfn')];

const isText: TypeTest = (first) => first === QUOTE;
const isNumber: TypeTest = (first) =>
  first === MINUS || (first !== undefined && first >= (ZERO as number) && first <= (NINE as number));
const isObject: TypeTest = (first) => first === OPEN_OBJECT;
const TYPE_TESTS = {
  text: isText,
  number: isNumber,
  boolean: (first: number | undefined) => first === T || first === F,
} as const;

function createEnumPrinter(shape: EnumShape): ValuePrinter {
  const find = createNameFinder(shape);
  return ({ out, record }, start, end) => out.append(find(record.fields, start, end) ?? NULL);
}

type NameFinder = (fields: Buffer, start: number, end: number) => Buffer | undefined;

/** The external name of an enum value. They are few: comparing bytes is faster than creating a string. */
function createNameFinder({ namesByValue }: EnumShape): NameFinder {
  const names = [...namesByValue].map(([value, name]) => ({
    value: Buffer.from(JSON.stringify(value)),
    name: Buffer.from(JSON.stringify(name)),
  }));
  return (fields, start, end) => {
    for (const { value, name } of names) {
      if (value.length === end - start && isAt(fields, start, value)) return name;
    }
    return undefined;
  };
}

/** Elements of another type are omitted. */
function createListPrinter({ element }: ListShape): ValuePrinter | undefined {
  const isWanted = createElementTest(element);
  const print = createValuePrinter(element);
  if (isWanted === undefined || print === undefined) return undefined;
  return printedIf(isList, (work, start, end) => {
    const { out } = work;
    const { fields } = work.record;
    let before = LIST_START;
    let at = start + 1;
    while (at < end - 1) {
      const elementEnd = endOfValue(fields, at);
      if (isWanted(fields, at, elementEnd)) {
        out.append(before);
        print(work, at, elementEnd);
        before = COMMA;
      }
      at = elementEnd + 2;
    }
    if (before === LIST_START) out.append(LIST_START);
    out.append(LIST_END);
  });
}

const isList: TypeTest = (first) => first === OPEN_LIST;
const LIST_START = Buffer.from('[');
const LIST_END = Buffer.from(']');
const COMMA = Buffer.from(',');

type ElementTest = (fields: Buffer, start: number, end: number) => boolean;

/** Like `elementHasType` of compile-shape.ts. `undefined`: PostgreSQL must print such elements. */
function createElementTest(element: Shape): ElementTest | undefined {
  if (!('path' in element) || element.path.length > 0) return undefined;
  switch (element.kind) {
    case 'text':
    case 'number':
    case 'boolean': {
      const isOfType = TYPE_TESTS[element.kind];
      return (fields, start) => isOfType(fields[start]);
    }
    case 'decimal':
      return (fields, start) => isNumber(fields[start]);
    case 'object':
      return (fields, start) => isObject(fields[start]);
    case 'enum': {
      const find = createNameFinder(element);
      return (fields, start, end) => find(fields, start, end) !== undefined;
    }
    default:
      return (fields, start) => fields[start] !== N;
  }
}

/**
 * The single row of `selectTexts` and `selectText`, as bytes with one line per record; null if there are
 * none.
 */
export interface RecordTexts {
  /** The ids as JSON. */
  readonly ids: Buffer | null;
  /** The visible fields without `_id`, each a JSON object as PostgreSQL prints jsonb. */
  readonly fields: Buffer | null;
}

/**
 * Joins all records of a statement with `id` and `fields` into one row: PostgreSQL does this faster than it
 * sends separate rows. JSON printed by PostgreSQL contains no line feed.
 */
export function selectTexts(records: Sql): Sql {
  return sql`select string_agg(to_json(page.id)::text, e'\\n') as ids,
      string_agg(page.fields::text, e'\\n') as fields
    from (${records}) page`;
}

/** Iterates over the records. Its positions are valid until the next one. */
export class RecordCursor {
  readonly ids: Buffer;
  readonly fields: Buffer;
  /** The start of the record's id in `ids`. */
  idStart = -1;
  idEnd = -1;
  /** The start of its fields in `fields`. */
  start = -1;
  end = -1;

  constructor({ ids, fields }: RecordTexts) {
    this.ids = ids ?? NOTHING;
    this.fields = fields ?? NOTHING;
  }

  /** Moves to the next record; false at the end. */
  next(): boolean {
    const { ids, fields } = this;
    this.idStart = this.idEnd + 1;
    this.start = this.end + 1;
    if (this.idStart >= ids.length) return false;
    this.idEnd = endOfLine(ids, this.idStart);
    this.end = endOfLine(fields, this.start);
    return true;
  }
}

function endOfLine(text: Buffer, start: number): number {
  const end = text.indexOf(LINE_FEED, start);
  return end < 0 ? text.length : end;
}

const NOTHING = Buffer.alloc(0);
const LINE_FEED = '\n'.charCodeAt(0);

/** Builds a byte sequence from mostly small slices of other texts, copying each once. */
export class TextBuilder {
  #bytes: Buffer;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, expectedBytes));
  }

  append(text: Uint8Array): void {
    this.appendPart(text, 0, text.length);
  }

  appendPart(text: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.#length + length > this.#bytes.length) this.#grow(length);
    const bytes = this.#bytes;
    const to = this.#length;
    if (length > LEAST_BLOCK) bytes.set(text.subarray(start, end), to);
    // A function call costs more than copying a few bytes.
    else for (let index = 0; index < length; index += 1) bytes[to + index] = text[start + index] as number;
    this.#length = to + length;
  }

  /** The result; nothing may be appended afterwards. */
  take(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafe(Math.max(this.#length + more, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const LEAST_BLOCK = 128;
