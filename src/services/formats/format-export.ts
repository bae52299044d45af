/** Records as the files of a format that other programs read, by its mapping. */

import { ifRefused } from '../../base/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../base/json/json.js';
import { parseOquery } from '../../base/languages/oquery.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import { allOf, type Filter } from '../../base/model/filter.js';
import { queryOf, type RecordQuery } from '../../base/model/record-query.js';
import type { Scope } from '../../base/model/scope.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { printCsvLine } from '../../base/tables/csv-line.js';
import type { ZipEntry } from '../../base/tables/print-zip.js';
import type { RecordStore } from '../../store/record-store.js';
import { readJsonLines } from '../exporting/print-records.js';
import {
  type ColumnRule,
  type CsvFile,
  type CsvSource,
  type Element,
  type FormatContext,
  type FormatMapping,
  type FormatRow,
  type FormatSource,
  printValue,
  valueAt,
  type XmlFile,
} from './format-mapping.js';

/** Which records are exported; without members all of them. */
export interface FormatPart {
  /** Only what changed then or later. The format must know changes: `FormatMapping.changes`. */
  readonly since?: string | undefined;
  /** Only records of this day or later. The format must know the day of a record: `FormatSource.day`. */
  readonly from?: string | undefined;
  /** Only records of this day or earlier. */
  readonly to?: string | undefined;
}

interface FormatExportOptions extends FormatPart {
  readonly store: RecordStore;
  readonly scope: Scope;
  readonly context: Omit<FormatContext, 'tables'>;
  readonly now: Date;
  readonly signal: EndSignal;
}

/** The result, once the files are written. */
export interface FormatReport {
  readonly rows: ReadonlyMap<string, number>;
  readonly readiness: Readiness;
  /** Columns of the format for which our records have nothing, each with the reason. */
  readonly homeless: readonly { readonly file: string; readonly column: string; readonly because: string }[];
  /** Declared fields of the records that the format does not carry, by collection. */
  readonly notCarried: ReadonlyMap<string, readonly string[]>;
}

export class FormatExport {
  readonly #mapping: FormatMapping;
  readonly #options: FormatExportOptions;
  readonly #context: FormatContext;
  readonly #rows = new Map<string, number>();
  readonly #readiness: Readiness = { lacks: [], counts: new Map() };
  /** The ids in the files that others refer to. */
  readonly #idsByFile = new Map<string, Set<string>>();

  constructor(mapping: FormatMapping, options: FormatExportOptions) {
    this.#mapping = mapping;
    this.#options = options;
    this.#context = { ...options.context, tables: mapping.tables ?? {} };
    for (const file of mapping.files) {
      for (const { in: target } of file.kind === 'csv' ? file.columns : []) {
        if (target !== undefined) this.#idsByFile.set(target, new Set());
      }
    }
  }

  /** The files one after the other; one without a row is left out. */
  async *files(): AsyncGenerator<ZipEntry, void> {
    const { files, manifest } = this.#mapping;
    for (const file of files) {
      const content = file.kind === 'csv' ? this.#csv(file) : this.#xml(file);
      const first = await content.next();
      if (first.done || (file.kind === 'csv' && (this.#rows.get(file.name) ?? 0) === 0)) continue;
      yield { path: `${file.name}.${file.kind}`, content: following(first.value, content) };
    }
    if (manifest !== undefined) yield { path: manifest.file, content: [this.#manifest(manifest)] };
  }

  /** The records that lack a value that the format requires; complete once all files are read. */
  get lacks(): readonly Lack[] {
    return this.#readiness.lacks;
  }

  /** Once all files are read. `declared` are the fields of a collection. */
  report(declared: (collection: string) => readonly string[]): FormatReport {
    const homeless = this.#mapping.files.flatMap((file) =>
      (file.kind === 'csv' ? file.columns : (file.none ?? [])).flatMap(({ name, none }) =>
        none === undefined ? [] : [{ file: file.name, column: name, because: none }],
      ),
    );
    const used = usedFields(this.#mapping);
    const notCarried = new Map(
      [...used].map(([collection, fields]) => [
        collection,
        declared(collection).filter((name) => !fields.has(name)),
      ]),
    );
    return { rows: this.#rows, readiness: this.#readiness, homeless, notCarried };
  }

  /** The heading comes with the first row: a file without rows is none. */
  async *#csv(file: CsvFile): AsyncGenerator<string, void> {
    const heading = printCsvLine(file.columns.map(({ name }) => name));
    let lines = heading;
    for (const source of file.sources) {
      for await (const row of this.#rowsOf(source)) {
        const line = this.#csvLine(file, source, row);
        if (line === '') continue;
        this.#count(file.name);
        lines += line;
        if (lines.length < CHUNK_CHARACTERS) continue;
        yield lines;
        lines = '';
      }
    }
    yield lines;
  }

  /** Empty for a row that is left out. */
  #csvLine(file: CsvFile, source: CsvSource, row: FormatSourceRow): string {
    const { changes } = this.#mapping;
    let isDangling = false;
    let sourcedId = '';
    const cells = file.columns.map((column) => {
      const text = this.#changeCell(column.name, row);
      if (text !== undefined) return text === '' ? null : text;
      const value = source.values[column.name];
      const cell = value === undefined ? '' : printValue(value, row, this.#context);
      // For removed records only the id is requested.
      if (!row.isRemoved) this.#check(file, column.name, column, { row, value: cell });
      isDangling ||= !row.isRemoved && this.#isDangling(column, cell);
      if (column.name === 'sourcedId') sourcedId = cell;
      return cell === '' ? null : cell;
    });
    if (isDangling || (changes === undefined && row.isRemoved)) return '';
    this.#idsByFile.get(file.name)?.add(sourcedId);
    return printCsvLine(cells);
  }

  /** Whether nothing in the bundle has the id. An export of changes has not all that it refers to. */
  #isDangling({ in: file }: ColumnRule, id: string): boolean {
    return file !== undefined && this.#options.since === undefined && !this.#idsByFile.get(file)?.has(id);
  }

  /** A cell of a column that describes changes; empty when everything is exported. */
  #changeCell(column: string, row: FormatSourceRow): string | undefined {
    const { changes } = this.#mapping;
    const { since, now } = this.#options;
    if (changes === undefined || (column !== 'status' && column !== changes.at)) return undefined;
    if (since === undefined) return '';
    if (column === changes.at) return now.toISOString();
    return row.isRemoved ? changes.status.removed : changes.status.present;
  }

  async *#xml(file: XmlFile): AsyncGenerator<string, void> {
    const ground = { data: {}, position: 1 };
    const open: string[] = [];
    let head = '<?xml version="1.0" encoding="UTF-8"?>\n';
    for (const element of file.open) {
      if (element.children !== undefined || element.text !== undefined) {
        head += this.#element(element, ground, () => undefined);
      } else {
        head += `<${element.element}>\n`;
        open.unshift(element.element);
      }
    }
    yield head;
    for (const { element, ...source } of file.sources) {
      for await (const row of readFormatRows(source, this.#options)) {
        this.#count(file.name);
        yield this.#element(element, row, (part, value) =>
          this.#check(file, part.element, part, { row, value }),
        );
      }
    }
    yield open.map((name) => `</${name}>\n`).join('');
  }

  #element(element: Element, row: FormatRow, check: (element: Element, text: string) => void): string {
    return elementRows(row.data, element)
      .map((part) => {
        const text = element.text === undefined ? '' : printValue(element.text, part, this.#context);
        if (element.text !== undefined) check(element, text);
        const children = (element.children ?? []).map((child) => this.#element(child, part, check)).join('');
        if (text === '' && children === '') return '';
        const attributes = Object.entries(element.attributes ?? {}).map(
          ([name, value]) => ` ${name}="${escaped(printValue(value, part, this.#context))}"`,
        );
        const content = children === '' ? escaped(text) : `\n${children}`;
        return `<${element.element}${attributes.join('')}>${content}</${element.element}>\n`;
      })
      .join('');
  }

  #rowsOf(source: CsvSource): AsyncIterable<FormatSourceRow> | Iterable<FormatSourceRow> {
    if ('collection' in source) return readFormatRows(source, this.#options);
    return [{ data: {}, position: 1, collection: '', isRemoved: false }];
  }

  #check(
    file: CsvFile | XmlFile,
    column: string,
    rule: ColumnRule,
    { row, value }: { readonly row: FormatSourceRow; readonly value: string },
  ): void {
    const label = file.label === undefined ? '' : String(valueAt(file.label, row, this.#context) ?? '');
    const id = String(row.data._id ?? '');
    const expected = this.#isDangling(rule, value)
      ? `an id of ${rule.in}.csv; the row is left out`
      : expectationOf(rule, value);
    if (expected === undefined) return;
    const { lacks, counts } = this.#readiness;
    const key = `${file.name}: ${column}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const lack = { file: file.name, collection: row.collection, id, label, column, value, expected };
    if (lacks.length < MOST_LISTED) lacks.push(lack);
  }

  #manifest({ properties, files, closing }: NonNullable<FormatMapping['manifest']>): string {
    const kind = this.#options.since === undefined ? 'bulk' : 'delta';
    const ground = { data: {}, position: 1 };
    const lines = [
      ['propertyName', 'value'],
      ...Object.entries(properties),
      ...files.map((name) => [`file.${name}`, this.#rows.has(name) ? kind : 'absent']),
      ...Object.entries(closing).map(([name, value]) => [name, printValue(value, ground, this.#context)]),
    ];
    return lines.map((cells) => printCsvLine(cells)).join('');
  }

  #count(file: string): void {
    this.#rows.set(file, (this.#rows.get(file) ?? 0) + 1);
  }
}

const CHUNK_CHARACTERS = 65_536;

async function* following(first: string, rest: AsyncIterable<string>): AsyncGenerator<string, void> {
  yield first;
  yield* rest;
}

/** The first step of `{path}`, of the value of a member that names a path, and of a condition. */
const NAMED_FIELD = /(?:\{|"(?:field|each|only|distinct|where)":")([a-z_]\w*)/gi;

/** The top-level fields that a mapping reads, by collection. */
export function usedFields({ files }: FormatMapping): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const file of files) {
    for (const source of file.sources) {
      if (!('collection' in source)) continue;
      const text = JSON.stringify(source);
      const fields = getOrMake(used, source.collection, () => new Set());
      for (const [, field = ''] of text.matchAll(NAMED_FIELD)) fields.add(field);
    }
  }
  return used;
}

function escaped(text: string): string {
  return (
    text
      .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
      // XML 1.0 does not allow these characters.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
  );
}

export interface Lack {
  /** The file of the format. */
  readonly file: string;
  readonly collection: string;
  readonly id: string;
  /** The record as people know it, e.g. by the admission number. */
  readonly label: string;
  readonly column: string;
  /** Empty: nothing is there. */
  readonly value: string;
  readonly expected: string;
}

/** The records that lack values, as CSV; empty if there are none. */
export function* printLacks(lacks: readonly Lack[]): Generator<string, void> {
  if (lacks.length === 0) return;
  yield printCsvLine(['file', 'collection', '_id', 'known as', 'column', 'value', 'expected']);
  for (const { file, collection, id, label, column, value, expected } of lacks)
    yield printCsvLine([file, collection, id, label, column, value, expected]);
}

/** So many are listed; all are counted. */
const MOST_LISTED = 10_000;

interface Readiness {
  readonly lacks: Lack[];
  /** How many records lack a value, by `file: column`. */
  readonly counts: Map<string, number>;
}

function expectationOf(rule: ColumnRule, value: string): string | undefined {
  if (value === '') return rule.required ? (rule.expected ?? 'a value') : undefined;
  const { length } = value;
  const isOfLength = length >= (rule.min ?? 0) && length <= (rule.max ?? Number.POSITIVE_INFINITY);
  const isOfPattern = rule.pattern === undefined || new RegExp(rule.pattern, 'u').test(value);
  return isOfLength && isOfPattern ? undefined : (rule.expected ?? 'another value');
}

interface FormatSourceRow extends FormatRow {
  readonly collection: string;
  readonly isRemoved: boolean;
}

type ReadFormatOptions = Pick<FormatExportOptions, 'store' | 'scope' | 'signal' | keyof FormatPart>;

/** @throws NOT_FOUND, FORBIDDEN for the collection; MALFORMED_FILTER for `where` */
async function* readFormatRows(
  source: FormatSource,
  options: ReadFormatOptions,
): AsyncGenerator<FormatSourceRow, void> {
  const { collection } = source;
  // Sessions and classes do not change with the records in them: their rows are always whole.
  const isWhole = options.since === undefined || source.distinct !== undefined;
  const records = isWhole ? present(source, options) : changed(source, options);
  const seen = new Set<string>();
  for await (const { data, isRemoved } of records) {
    if (source.distinct !== undefined) {
      const value = JSON.stringify(data[source.distinct] ?? null);
      if (value === 'null' || seen.has(value)) continue;
      seen.add(value);
    }
    yield* elementRows(data, source).map((row) => ({ ...row, collection, isRemoved }));
  }
}

/** A row for each element of a list, which stands there in its place. */
function elementRows(data: JsonObject, { each, only }: Pick<FormatSource, 'each' | 'only'>): FormatRow[] {
  const rows = each === undefined ? [{ data, position: 1 }] : elementsOf(data, each);
  return only === undefined ? rows : rows.filter((row) => hasValue(row.data, only.split('.')));
}

function elementsOf(data: JsonObject, each: string): FormatRow[] {
  const list = data[each];
  if (!Array.isArray(list)) return [];
  return list.map((element: JsonValue, index) => ({
    data: { ...data, [each]: element },
    position: index + 1,
  }));
}

/** Something other than nothing, null, an empty text and the number 0. */
function hasValue(data: JsonObject, [name = '', ...rest]: readonly string[]): boolean {
  const value = data[name];
  if (rest.length > 0) return isJsonObject(value) && hasValue(value, rest);
  return value !== undefined && value !== null && value !== '' && Number(value) !== 0;
}

interface ReadRecord {
  readonly data: JsonObject;
  readonly isRemoved: boolean;
}

async function* present(source: FormatSource, options: ReadFormatOptions): AsyncGenerator<ReadRecord, void> {
  const { store, scope, signal } = options;
  const lines = store.find(scope, queryFor(source, options)).stream('ndjson', signal);
  for await (const data of parsed(lines)) yield { data, isRemoved: false };
}

/** A record that changed so that it is no longer meant counts as removed. */
async function* changed(source: FormatSource, options: ReadFormatOptions): AsyncGenerator<ReadRecord, void> {
  const { store, scope, signal, since = '' } = options;
  const meant = new Set<string>();
  if (source.where !== undefined) {
    const lines = store
      .find(scope, queryFor(source, options))
      .streamChanges(since, { format: 'ndjson', signal });
    for await (const { _id, $removed } of parsed(lines)) if ($removed === undefined) meant.add(String(_id));
  }
  const all = store
    .find(scope, queryOf(source.collection))
    .streamChanges(since, { format: 'ndjson', signal });
  for await (const data of parsed(all)) {
    const id = String(data._id);
    if (typeof data.$removed === 'string') {
      yield { data: await lastState(source.collection, id, data.$removed, options), isRemoved: true };
    } else {
      yield { data, isRemoved: source.where !== undefined && !meant.has(id) };
    }
  }
}

/** The last values of a removed record; its id alone where values are not kept. */
async function lastState(
  collection: string,
  id: string,
  removedAt: string,
  { store, scope }: ReadFormatOptions,
): Promise<JsonObject> {
  const at = new Date(Date.parse(removedAt) - 1);
  const past = await store
    .getPast(scope, collection, id, { at })
    .catch(ifRefused(['GONE', 'NOT_FOUND'], undefined));
  const data = past === undefined ? undefined : parseExactJson(past.json);
  return { ...(isJsonObject(data) ? data : {}), _id: id };
}

function queryFor({ collection, where = '', day }: FormatSource, { from, to }: FormatPart): RecordQuery {
  const path = day?.split('.') ?? [];
  const isLimited = (value: string | undefined): value is string => path.length > 0 && value !== undefined;
  const filters: Filter[] = [parseOquery(where)];
  if (isLimited(from)) filters.push({ kind: 'greaterOrEqual', path, value: from });
  if (isLimited(to)) filters.push({ kind: 'lessOrEqual', path, value: to });
  return { ...queryOf(collection), filter: allOf(filters) };
}

async function* parsed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject, void> {
  for await (const lines of readJsonLines(chunks)) {
    for (const line of lines) {
      const data = line === '' ? undefined : parseExactJson(line);
      if (isJsonObject(data)) yield data;
    }
  }
}
