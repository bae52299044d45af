/** Inspects a file, column by column. Writes nothing. */
import { isJsonObject } from '../../../base/json/json.js';
import { isBlankCell } from '../cells/plain-cells.js';
import {
  ColumnFindings,
  type ColumnInspection,
  type DayOrder,
  DistinctBudget,
  type FoundCell,
} from './column-findings.js';
import type { Alteration } from './plain-document.js';
import { type RowSource, SOURCE_LIMITS, type SourceRow, type UnfoldedDays } from './row-source.js';

/** The findings about a file; a mapping is proposed from them. */
export interface SourceInspection
  extends Pick<RowSource, 'format' | 'encoding' | 'delimiter' | 'sheet' | 'sheets' | 'header' | 'warnings'> {
  /** The number of inspected rows. */
  readonly rows: number;
  /** Whether these are all rows of the file. */
  readonly isWhole: boolean;
  /**
   * The columns of a table in their order, or the paths of documents in the order of their first occurrence.
   */
  readonly columns: readonly ColumnInspection[];
  /** The rows that are invalid as a whole. Their cells are not counted. */
  readonly faults: { readonly count: number; readonly samples: readonly FaultyRow[] };
}

export interface InspectedSource {
  /** The columns of a table; `undefined` for documents. */
  readonly tableColumns: readonly string[] | undefined;
  readonly unfold: UnfoldedDays | undefined;
  readonly inspection: SourceInspection;
}

interface FaultyRow {
  readonly number: number;
  readonly fault: string;
}

const MAX_FAULTS = 20;
const MAX_ALTERATIONS = 20;

/**
 * Inspects the rows of a file: its columns, the likely type of each, and the cells that do not fit. In
 * documents, the path of a value is its column, and a list counts as one value.
 *
 * Needs a few MiB of memory, whatever the size of the file. `maxRows`: the most rows to inspect.
 *
 * @throws the errors of `RowSource.rows`
 */
export async function inspectSource(
  source: RowSource,
  { maxRows = Number.POSITIVE_INFINITY }: { readonly maxRows?: number } = {},
): Promise<SourceInspection> {
  const findings = new SourceFindings(source.columns);
  let isWhole = true;
  for await (const batch of source.rows()) {
    for (const row of batch) {
      if (findings.rows === maxRows) isWhole = false;
      else findings.add(row);
    }
    if (!isWhole) break;
  }
  const { rows: _rows, columns: _columns, title: _title, ...facts } = source;
  return {
    ...facts,
    warnings: [
      ...facts.warnings,
      ...findings.warnings,
      ...findings.doubts(isWhole),
      ...findings.alterations(isWhole),
    ],
    rows: findings.rows,
    isWhole,
    columns: findings.columns(),
    faults: findings.faults,
  };
}

/** The alterations of one kind, in all documents together. */
export interface CountedAlteration extends Alteration {
  count: number;
  /** The first documents that have it. */
  readonly firstIds: string[];
}

const MAX_IDS = 5;

/** Counts alterations by kind. The names of members may be data, so the number of kinds is limited. */
export class AlterationCounts {
  /** The number of alterations of further kinds. */
  unlisted = 0;
  readonly #max: number;
  readonly #countedByKind = new Map<string, CountedAlteration>();

  constructor(max: number) {
    this.#max = max;
  }

  add(alterations: readonly Alteration[], id: string): void {
    for (const alteration of alterations) {
      const kind = JSON.stringify(Object.values(alteration));
      const counted = this.#countedByKind.get(kind) ?? { ...alteration, count: 0, firstIds: [] };
      if (counted.count === 0 && this.#countedByKind.size === this.#max) {
        this.unlisted += 1;
        continue;
      }
      this.#countedByKind.set(kind, counted);
      counted.count += 1;
      if (counted.firstIds.length < MAX_IDS && counted.firstIds.at(-1) !== id) counted.firstIds.push(id);
    }
  }

  list(): readonly CountedAlteration[] {
    return [...this.#countedByKind.values()];
  }
}

class SourceFindings {
  rows = 0;
  readonly warnings: string[] = [];
  readonly #faulty: FaultyRow[] = [];
  #faults = 0;
  #last: SourceRow | undefined;
  #hidden = 0;
  #firstHidden = 0;
  readonly #alterations = new AlterationCounts(MAX_ALTERATIONS);
  readonly #budget = new DistinctBudget();
  readonly #findingsByColumn: Map<string, ColumnFindings>;
  readonly #isTable: boolean;

  constructor(columns: readonly string[] | undefined) {
    this.#isTable = columns !== undefined;
    this.#findingsByColumn = new Map(
      (columns ?? []).map((name) => [name, new ColumnFindings(name, this.#budget)]),
    );
  }

  get faults(): SourceInspection['faults'] {
    return { count: this.#faults, samples: this.#faulty };
  }

  add(row: SourceRow): void {
    const { number, values, fault, alterations, isHidden } = row;
    this.rows += 1;
    this.#last = row;
    if (isHidden) {
      this.#hidden += 1;
      this.#firstHidden ||= number;
    }
    if (alterations !== undefined) this.#alterations.add(alterations, `document ${number}`);
    if (fault !== undefined) {
      this.#faults += 1;
      if (this.#faulty.length < MAX_FAULTS) this.#faulty.push({ number, fault });
      return;
    }
    if (this.#isTable) {
      for (const name in values) this.#findingsByColumn.get(name)?.add(number, values[name]);
    } else this.#addNested(number, values, '');
  }

  /** Warnings about ambiguous days and a row of sums. `isWhole`: whether the last row was seen. */
  doubts(isWhole: boolean): string[] {
    const order = this.#dayOrder();
    const doubts = [...this.#findingsByColumn].flatMap(([column, findings]) => {
      const orders = findings.dayOrders();
      const { day, month, either } = orders;
      if (day !== undefined && month !== undefined) return [doubtOfDays(column, [day, month])];
      return either === undefined || (day ?? month) !== undefined
        ? []
        : [doubtOfOrder(column, either, order)];
    });
    if (this.#faults > 0) {
      const [{ number, fault } = { number: 0, fault: '' }] = this.#faulty;
      const others = this.#faults > 1 ? ` ${this.#faults.toLocaleString('en')} rows are not read.` : '';
      doubts.push(`Row ${number} is not read: ${fault}.${others}`);
    }
    if (this.#hidden > 0) doubts.push(doubtOfHidden(this.#hidden, this.#firstHidden));
    const words = isWhole && this.#isTable ? wordsOfSum(this.#last?.values ?? {}) : undefined;
    return words === undefined ? doubts : [...doubts, doubtOfSum(this.#last?.number ?? 0, words)];
  }

  /** Warnings about values that no record can hold. `isWhole`: whether all documents were seen. */
  alterations(isWhole: boolean): string[] {
    const lines = this.#alterations.list().map(({ path, was, became, firstIds: [first], count }) => {
      const others = count > 1 ? ` and ${(count - 1).toLocaleString('en')} more` : '';
      return `${JSON.stringify(path)} is ${was} in ${first}${others}; in the record it is ${became}.`;
    });
    if (this.#alterations.unlisted > 0) {
      const count = this.#alterations.unlisted.toLocaleString('en');
      lines.push(`${count} more values or names of documents are not kept as they are.`);
    }
    if (lines.length > 0 && !isWhole) {
      lines.push(
        `Only the first ${this.rows.toLocaleString('en')} documents were looked at for such values.`,
      );
    }
    return lines;
  }

  columns(): ColumnInspection[] {
    const whole = this.rows - this.#faults;
    const { order } = this.#dayOrder();
    return [...this.#findingsByColumn.values()].map((findings) => findings.finish(whole, order));
  }

  /** The order of days in all columns of the file, because one program has written all of them. */
  #dayOrder(): FileDayOrder {
    const seen = [...this.#findingsByColumn].map(([column, findings]) => ({
      column,
      ...findings.dayOrders(),
    }));
    const shown = (order: DayOrder) => seen.find((one) => one[order] !== undefined);
    const [day, month] = [shown('day'), shown('month')];
    const by = day ?? month;
    if (by === undefined || (day !== undefined && month !== undefined)) return { order: 'day' };
    const order = day === undefined ? 'month' : 'day';
    return { order, shownBy: { column: by.column, cell: by[order] as FoundCell } };
  }

  #addNested(number: number, values: Readonly<Record<string, unknown>>, prefix: string): void {
    for (const [name, value] of Object.entries(values)) {
      const path = prefix + name;
      if (isJsonObject(value)) this.#addNested(number, value, `${path}.`);
      else this.#findingsOf(path)?.add(number, value);
    }
  }

  #findingsOf(path: string): ColumnFindings | undefined {
    const known = this.#findingsByColumn.get(path);
    if (known) return known;
    const { maxColumns } = SOURCE_LIMITS;
    if (this.#findingsByColumn.size === maxColumns) {
      if (this.warnings.length === 0)
        this.warnings.push(`The documents have more than ${maxColumns} fields; only the first are listed.`);
      return undefined;
    }
    const findings = new ColumnFindings(path, this.#budget);
    this.#findingsByColumn.set(path, findings);
    return findings;
  }
}

interface FileDayOrder {
  readonly order: DayOrder;
  /** Absent if no column shows it, or several columns contradict each other. */
  readonly shownBy?: { readonly column: string; readonly cell: FoundCell };
}

function doubtOfOrder(column: string, either: FoundCell, { order, shownBy }: FileDayOrder): string {
  const start =
    `The days of ${JSON.stringify(column)} may be read in two ways ` +
    `(${either.value}, row ${either.number}). They are read with the ${order}`;
  if (shownBy === undefined) return `${start} first; choose another format if that is wrong.`;
  const { value, number } = shownBy.cell;
  return `${start} first, as ${JSON.stringify(shownBy.column)} shows (${value}, row ${number}).`;
}

function doubtOfDays(column: string, [dayFirst, monthFirst]: readonly [FoundCell, FoundCell]): string {
  return (
    `${JSON.stringify(column)} has days with the day first (${dayFirst.value}, row ${dayFirst.number}) ` +
    `and with the month first (${monthFirst.value}, row ${monthFirst.number}): ` +
    '01/02/2026 may mean either. Write all days in one way.'
  );
}

/** The first words of a last row that adds up the rows above it. */
const SUM = /^(?:grand |sub[ -]?|net )?(?:total|sum)s?\b|^(?:कुल|योग|महायोग)(?:\s|:|$)/iu;

function wordsOfSum(values: Readonly<Record<string, unknown>>): string | undefined {
  const first = Object.values(values).find((cell) => !isBlankCell(cell));
  return typeof first === 'string' && SUM.test(first.trim()) ? first.trim() : undefined;
}

function doubtOfHidden(count: number, first: number): string {
  return (
    `Rows that the sheet hides, such as row ${first}, are read like all others: ` +
    `${count.toLocaleString('en')}. Delete them if they are not to be imported.`
  );
}

function doubtOfSum(row: number, words: string): string {
  return (
    `The last row (${row}) begins with ${JSON.stringify(words.slice(0, 40))}: ` +
    'where it adds up the rows above, take it out, or it becomes a record.'
  );
}
