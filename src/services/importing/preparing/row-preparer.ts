/**
 * Turns rows of a file into lines of the staging table: maps and checks them, and resolves their references.
 * It runs on a thread, and looks up facts in the database twice per group of rows.
 */
import type { ErrorDetail } from '../../../base/errors.js';
import { defined, type JsonObject, type JsonValue, printExactJson } from '../../../base/json/json.js';
import type { Collection } from '../../../base/model/collection.js';
import { keysOf } from '../../../base/model/keys-of.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import {
  type CheckedRecord,
  checkRecord,
  nameOfKey,
  printStagedLine,
  type StagingRules,
  uniqueTextsOf,
} from '../../../store/writing/check-record.js';
import {
  deadReferenceDetail,
  type HeldReference,
  listReferences,
} from '../../../store/writing/references.js';
import type { Sought } from '../../../store/writing/select-unlinked.js';
import { type LinkVerdicts, settleLinks } from '../../../store/writing/settle-links.js';
import type { FoundTarget, SoughtTarget } from '../../../store/writing/staged-writes.js';
import type { ImportMapping } from '../import-mapping.js';
import type { SourceRow } from '../reading/row-source.js';
import {
  columnFinder,
  createRowMapper,
  type Lookup,
  type MappedRow,
  partialFields,
  type RowFault,
} from './row-mapper.js';
import { SeenTexts } from './seen-texts.js';

/** Everything a thread needs to prepare the rows of a file. */
export interface PreparationPlan extends Omit<StagingRules, 'mode' | 'partial'> {
  readonly mapping: ImportMapping;
  /** From this and the row, ids are derived for records without one: the same file yields the same ids. */
  readonly seed: string;
  readonly of: 'table' | 'documents';
  /** Rows up to this number are done already; they are read only to find duplicates in the file. */
  readonly position: number;
}

/** The look-ups of targets of references in the database. */
export interface ReferenceLookups {
  readonly findTargets: (sought: readonly SoughtTarget[]) => Promise<readonly FoundTarget[]>;
  /** The faults of texts that other records should have. */
  readonly judgeLinks: (sought: readonly Sought[]) => Promise<LinkVerdicts>;
  /** The ids of the records whose field has a text, by the text. */
  readonly findByField: (sought: {
    readonly target: string;
    readonly field: string;
    readonly texts: readonly string[];
  }) => Promise<ReadonlyMap<string, readonly string[]>>;
}

export interface PreparedRows {
  readonly lines: Uint8Array<ArrayBuffer>;
  readonly count: number;
  /** The top-level fields that any of the records has. */
  readonly fields: readonly string[];
  readonly refused: readonly RefusedRow[];
  /** The number of rows of the file, including refused ones. */
  readonly rows: number;
  /** The number of the last row. */
  readonly position: number;
  /** The numbers of the staged rows, as runs of consecutive numbers. */
  readonly staged: readonly (readonly [first: number, last: number])[];
  /** By row number, how the first staged rows label their records; absent for a row without a label. */
  readonly labels: ReadonlyMap<number, string>;
}

export interface RefusedRow {
  readonly number: number;
  readonly errors: readonly RowFault[];
  /** The cells as they stand in the file. */
  readonly source: readonly string[];
}

const GROUP_ROWS = 500;
/** The rows of a batch whose labels are kept: a dry run shows no more of its first rows. */
const MOST_LABELLED = 100;
const LONGEST_LABEL = 200;

export class RowPreparer {
  readonly #plan: PreparationPlan;
  readonly #rules: StagingRules;
  readonly #map: ReturnType<typeof createRowMapper>;
  readonly #columnAt: ReturnType<typeof columnFinder>;
  readonly #columns: readonly string[] | undefined;
  readonly #lookups: ReferenceLookups;
  readonly #seen = new SeenTexts();
  #hasSeenRefused = false;

  constructor(plan: PreparationPlan, columns: readonly string[] | undefined, lookups: ReferenceLookups) {
    const { collection, mapping } = plan;
    this.#plan = plan;
    this.#rules = { ...plan, mode: 'replace', partial: partialFields(mapping, collection) };
    this.#map = createRowMapper(mapping, collection, plan);
    this.#columnAt = columnFinder(mapping);
    this.#columns = columns;
    this.#lookups = lookups;
  }

  /**
   * Prepares the rows in groups, each while the database answers the question of the group before, so that
   * only the objects of two groups are in memory.
   */
  async prepare(rows: readonly SourceRow[]): Promise<PreparedRows> {
    const batch = new BatchOfLines();
    let last: { readonly pending: readonly PendingRow[]; readonly missingOf: Promise<MissingOf> } | undefined;
    for (let start = 0; start < rows.length; start += GROUP_ROWS) {
      const pending = await this.#check(rows.slice(start, start + GROUP_ROWS));
      const next = { pending, missingOf: this.#settleReferences(pending) };
      if (last !== undefined) this.#print(last.pending, await last.missingOf, batch);
      last = next;
    }
    if (last !== undefined) this.#print(last.pending, await last.missingOf, batch);
    return batch.finish(rows.at(-1)?.number ?? 0);
  }

  async #check(rows: readonly SourceRow[]): Promise<readonly PendingRow[]> {
    const pending = rows.map((row): PendingRow => {
      const { fault: detail, faultColumn: column } = row;
      if (detail !== undefined) return { row, mapped: undefined, faults: [defined({ detail, column })] };
      const mapped = this.#map(row.values);
      return { row, mapped, faults: [...mapped.faults] };
    });
    await this.#settleLookups(pending);
    for (const one of pending) {
      if (one.mapped === undefined) continue;
      one.checked = checkRecord(one.mapped.record, this.#rules);
      const { faults } = one.checked;
      if (faults.length > 0)
        one.faults.push(...this.#besides(one.faults, withColumns(faults, this.#columnAt)));
    }
    return pending;
  }

  #print(pending: readonly PendingRow[], missingOf: MissingOf, batch: BatchOfLines): void {
    for (const one of pending) {
      const { number } = one.row;
      const { checked, faults } = one;
      if (checked !== undefined) faults.push(...this.#findRepeated(checked, one));
      if (number <= this.#plan.position) continue;
      // A row without faults leaves them to the database: an update may keep a reference it already had.
      if (faults.length > 0) faults.push(...withColumns(missingOf(one), this.#columnAt));
      if (checked === undefined || faults.length > 0) {
        batch.refused.push({ number, errors: faults, source: this.sourceOf(one.row) });
        continue;
      }
      const id = checked.id ?? derivedId(this.#plan.seed, number);
      const identity = { number, id, removed: removedBy(one), missing: missingOf(one) };
      const line = printStagedLine(checked, this.#rules, identity);
      batch.add(line, number, checked.sent, this.#plan.collection.labelField);
    }
  }

  /**
   * The faults that do not follow from unreadable cells. An unreadable cell is missing in the record, which
   * would be reported as a second fault of its column, or of a rule over several columns.
   */
  #besides(unread: readonly RowFault[], faults: readonly RowFault[]): readonly RowFault[] {
    if (unread.length === 0) return faults;
    const columns = new Set(unread.map(({ column }) => column));
    return faults.filter(({ column }) => column !== undefined && !columns.has(column));
  }

  /** The cells of a row; for a document, its JSON text. */
  sourceOf({ source, values }: SourceRow): readonly string[] {
    if (source !== undefined) return source;
    if (this.#columns === undefined) {
      const isRead = Object.keys(values).length > 0;
      return [isRead ? printExactJson(values as JsonObject) : ''];
    }
    return this.#columns.map((name) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      if (value === undefined || value === null) return '';
      return typeof value === 'string' ? value : printExactJson(value as JsonValue);
    });
  }

  async #settleLookups(pending: readonly PendingRow[]): Promise<void> {
    const textsByField = new Map<string, { target: string; field: string; texts: Set<string> }>();
    for (const { mapped } of pending) {
      for (const { target, field, text } of mapped?.lookups ?? []) {
        const name = JSON.stringify([target, field]);
        getOrMake(textsByField, name, () => ({ target, field, texts: new Set() })).texts.add(text);
      }
    }
    const idsByField = new Map<string, ReadonlyMap<string, readonly string[]>>();
    for (const [name, { target, field, texts }] of textsByField) {
      idsByField.set(name, await this.#lookups.findByField({ target, field, texts: [...texts] }));
    }
    for (const { mapped, faults } of pending) {
      for (const lookup of mapped?.lookups ?? []) {
        const ids = idsByField.get(JSON.stringify([lookup.target, lookup.field]))?.get(lookup.text) ?? [];
        const [id] = ids;
        if (id !== undefined && ids.length === 1) lookup.settle(id);
        else faults.push(notOne(lookup, ids.length));
      }
    }
  }

  /** Fills labels, and finds the dangling references of each row, also of rows that are refused anyway. */
  async #settleReferences(pending: readonly PendingRow[]): Promise<MissingOf> {
    const { collection, timeZone } = this.#plan;
    const sought = new TargetsOfGroup();
    const held = new Map<PendingRow, readonly HeldReference[]>();
    for (const one of pending) {
      if (one.checked === undefined) continue;
      const { data, unlabelled } = one.checked.change;
      if (one.faults.length === 0) {
        for (const { targets, reference } of unlabelled) sought.add(targets, reference.value, false);
      }
      const references = listReferences(collection, data);
      if (references.length > 0) held.set(one, references);
      for (const { targets, value } of references) sought.add(targets, value, true);
    }
    const found = await sought.settle(this.#lookups);
    for (const one of pending) {
      if (one.checked === undefined || one.faults.length > 0) continue;
      for (const { targets, reference } of one.checked.change.unlabelled) {
        const label = found(targets, reference.value)?.label;
        if (label !== undefined) reference.label = label;
      }
    }
    const checked = pending.flatMap((one) =>
      one.checked === undefined ? [] : [[one, one.checked] as const],
    );
    const records = checked.map(([, { change }]) => change);
    let verdicts: LinkVerdicts | undefined;
    const judge = async (texts: readonly Sought[]) => (verdicts = await this.#lookups.judgeLinks(texts));
    const faults = await settleLinks(collection, records, { timeZone, judge });
    const unlinked = new Map(checked.map(([one], index) => [one, faults[index]]));
    // Names may have got the spelling of the school.
    if (verdicts !== undefined && verdicts.size > 0)
      for (const [one, before] of checked)
        one.checked = { ...before, keys: keysOf(collection, before.change.data, timeZone) };
    return (one) => {
      const dead = held.get(one)?.filter(({ targets, value }) => found(targets, value)?.isDead) ?? [];
      return [
        ...dead
          // Records of the file may refer to records of earlier rows.
          .filter(
            ({ targets, value }) =>
              !targets.includes(collection.name) || this.#seen.find('_id', value) === undefined,
          )
          .map(deadReferenceDetail),
        ...(unlinked.get(one) ?? []),
      ];
    };
  }

  /**
   * Finds values that must be unique and occur in an earlier row; remembers the others. Refused rows count
   * too: once corrected, they would change the record that a later row with their key has made.
   */
  #findRepeated(
    checked: CheckedRecord,
    { row: { number }, faults: others }: PendingRow,
  ): readonly RowFault[] {
    const { key } = this.#plan;
    // A default in the place of an unreadable cell is no key of the row.
    const isWrong = (sought: string) => others.some(({ column }) => column === sought);
    const all = uniqueTextsOf(checked, this.#rules);
    const texts = others.length === 0 ? all : all.filter(([name]) => !this.#columnsOf(name).some(isWrong));
    const keyName = nameOfKey(key);
    const faults: RowFault[] = [];
    const refuse = (name: string, faultOf: (named: string) => RowFault) => {
      const [column] = this.#columnsOf(name);
      faults.push(defined({ ...faultOf(this.#headingOf(name)), column }));
    };
    if (others.length === 0 && key.kind !== 'id' && !texts.some(([name]) => name === keyName)) {
      refuse(keyName, (named) => ({
        detail: `the row has no ${named} to identify its record`,
        expected: `a value for ${named}`,
      }));
    }
    for (const [name, text] of texts) {
      const row = this.#rowWith(name, text);
      if (row === undefined) continue;
      refuse(name, (named) => ({
        detail: `row ${row} of the file has the same ${named}`,
        expected: `each ${named} once`,
      }));
    }
    const isRefused = others.length + faults.length > 0;
    for (const [name, text] of texts) {
      if (!isRefused) this.#seen.add(name, text, number);
      else if (this.#rowWith(name, text) === undefined) {
        this.#hasSeenRefused = true;
        this.#seen.add(ruleOfRefused(name), text, number);
      }
    }
    return faults;
  }

  /** The columns of a unique field, or of the parts of a rule. */
  #columnsOf(name: string): readonly string[] {
    const paths = new Set([name, ...partsOf(this.#plan.collection, name)]);
    return [...paths].flatMap((path) => this.#columnAt(`/${path}`) ?? []);
  }

  /** The headings of a field or rule in the file. */
  #headingOf(name: string): string {
    const columns = this.#columnsOf(name);
    return columns.length === 0 ? name : columns.join(' and ');
  }

  /** The earlier row with the same text, refused or not. */
  #rowWith(rule: string, text: string): number | undefined {
    const row = this.#seen.find(rule, text);
    if (row !== undefined || !this.#hasSeenRefused) return row;
    return this.#seen.find(ruleOfRefused(rule), text);
  }
}

type MissingOf = (one: PendingRow) => readonly ErrorDetail[];

/** The prepared part of a batch. */
class BatchOfLines {
  readonly refused: RefusedRow[] = [];
  readonly #lines: string[] = [];
  readonly #staged: [first: number, last: number][] = [];
  readonly #fields = new Set<string>();
  readonly #labels = new Map<number, string>();

  /** A row that is staged, with its fields. */
  add(line: string, number: number, sent: JsonObject, labelField: string | undefined): void {
    this.#lines.push(line);
    for (const name in sent) this.#fields.add(name);
    const label = labelField === undefined ? undefined : sent[labelField];
    if (typeof label === 'string' && this.#labels.size < MOST_LABELLED) {
      this.#labels.set(number, label.slice(0, LONGEST_LABEL));
    }
    const run = this.#staged.at(-1);
    if (run?.[1] === number - 1) run[1] = number;
    else this.#staged.push([number, number]);
  }

  finish(position: number): PreparedRows {
    const { refused } = this;
    const count = this.#lines.length;
    return {
      lines: new TextEncoder().encode(this.#lines.join('')),
      ...{ count, refused, rows: count + refused.length, position },
      ...{ fields: [...this.#fields], staged: this.#staged, labels: this.#labels },
    };
  }
}

/** Texts of refused rows have a rule of their own, because references to refused rows are dangling. */
function ruleOfRefused(rule: string): string {
  return `${rule} of a refused row`;
}

/** Turns faults of a record into faults of a row, with the column of each pointer. */
export function withColumns(
  errors: readonly ErrorDetail[],
  columnAt: ReturnType<typeof columnFinder>,
): RowFault[] {
  return errors.map((error) => {
    const column = columnAt(error.pointer);
    return column === undefined ? error : { column, ...error, detail: detailOf(error, column) };
  });
}

/** Replaces the pointer by the heading, which is what the readers of a spreadsheet know. */
function detailOf({ pointer = '', detail }: ErrorDetail, column: string): string {
  const start = `${pointer}: `;
  return detail.startsWith(start) ? `${column}: ${detail.slice(start.length)}` : detail;
}

/** The fields that the row removes and does not set. */
function removedBy({ mapped }: PendingRow): readonly string[] {
  return [...(mapped?.removed ?? [])].filter((name) => !Object.hasOwn(mapped?.record ?? {}, name));
}

interface PendingRow {
  readonly row: SourceRow;
  readonly mapped: MappedRow | undefined;
  readonly faults: RowFault[];
  checked?: CheckedRecord;
}

function partsOf(collection: Collection, rule: string): readonly string[] {
  const parts = collection.uniqueTogether.find(({ name }) => name === rule)?.parts ?? [];
  return parts.map(({ path }) => path.join('/'));
}

/** The targets of a group of rows, each sought once. */
class TargetsOfGroup {
  readonly #places = new Map<string, number>();
  readonly #sought: SoughtTarget[] = [];

  add(targets: readonly string[], id: string, mustExist: boolean): void {
    const name = nameOfTarget(targets, id);
    const place = this.#places.get(name) ?? this.#sought.length;
    this.#places.set(name, place);
    this.#sought[place] = { targets, id, mustExist: mustExist || this.#sought[place]?.mustExist === true };
  }

  async settle(
    lookups: ReferenceLookups,
  ): Promise<(targets: readonly string[], id: string) => FoundTarget | undefined> {
    const found = this.#sought.length === 0 ? [] : await lookups.findTargets(this.#sought);
    return (targets, id) => found[this.#places.get(nameOfTarget(targets, id)) ?? -1];
  }
}

function nameOfTarget(targets: readonly string[], id: string): string {
  return `${targets.join()} ${id}`;
}

function notOne({ target, field, text, column }: Lookup, count: number): RowFault {
  const shown = JSON.stringify(text.slice(0, 100));
  const detail =
    count === 0
      ? `${column}: there is no record of ${target} whose ${field} is ${shown}`
      : `${column}: ${count} records of ${target} have the ${field} ${shown}`;
  return { column, detail, expected: `the ${field} of one record of ${target}`, sent: text.slice(0, 100) };
}

/** An id derived from the file and the row, increasing with the rows (UUID version 8). */
function derivedId(seed: string, number: number): string {
  const row = number.toString(16).padStart(12, '0');
  return `${seed.slice(0, 8)}-${seed.slice(8, 12)}-8${seed.slice(12, 15)}-a${seed.slice(15, 18)}-${row}`;
}
