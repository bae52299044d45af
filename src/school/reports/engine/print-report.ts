/** Prints a report in the formats of a complete answer, row by row. */

import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../../base/json/json.js';
import type { TableColumn, TableLine } from '../../../base/tables/cell.js';
import { printCsvLine } from '../../../base/tables/csv-line.js';
import { printParquet } from '../../../base/tables/parquet.js';
import {
  numberCell,
  printCell,
  printRow,
  printWorkbook,
  STYLE,
  textCell,
} from '../../../base/tables/workbook.js';
import { headingOf, type RowClass } from './columns.js';
import type { ParameterList } from './parameters.js';
import type { ReportLine } from './statement.js';
import { type Cell, inZone, type Table, tableOf } from './table.js';
/** The part of a report that printers need. */
export interface ReportForm {
  /** The name on the command line, in `?report=` and in the scopes of a key, e.g. `fee-defaulters`. */
  readonly name: string;
  readonly title: string;
  readonly parameters: ParameterList;
  readonly row: RowClass;
  readonly totals: RowClass;
}

/** A line of the report's statement: the JSON text of a row, the totals, or a warning. */
export interface ReportStreamLine {
  readonly part: ReportLine['part'];
  readonly json: string;
}

/** The lines before the rows. */
export interface ReportHead {
  readonly report: string;
  readonly parameters: JsonObject;
  readonly generatedAt: string;
  readonly currency: string;
}

interface CsvOptions {
  readonly byteOrderMark?: 'with' | 'without';
  readonly timeZone?: string | undefined;
}

export async function* printCsv(
  report: Pick<ReportForm, 'row'>,
  lines: AsyncIterable<ReportStreamLine>,
  { byteOrderMark, timeZone }: CsvOptions,
): AsyncIterable<string> {
  for await (const { part, content, table } of withTable(report, lines)) {
    if (part === 'totals') yield (byteOrderMark === 'with' ? '\uFEFF' : '') + printCsvLine(table.headings);
    if (part !== 'row') continue;
    for (const cells of table.linesOf(content))
      yield printCsvLine(inZone(cells, timeZone).map(({ value }) => value || null));
  }
}

interface TablePart {
  readonly part: ReportLine['part'];
  readonly content: JsonObject;
  readonly table: Table;
}

/** The parts with the table of the rows. The totals come first, because they determine its columns. */
async function* withTable(
  report: Pick<ReportForm, 'row'>,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncGenerator<TablePart, void> {
  let table: Table | undefined;
  for await (const { part, json } of lines) {
    const content = parseExactJson(json);
    if (!isJsonObject(content)) continue;
    if (part === 'totals') table = tableOf(report.row, content);
    if (table) yield { part, content, table };
  }
}

export async function* printReportParquet(
  report: Pick<ReportForm, 'row'>,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncGenerator<Uint8Array, void> {
  const parts = withTable(report, lines);
  try {
    const first = await parts.next();
    const table = first.done ? tableOf(report.row, {}) : first.value.table;
    yield* printParquet(columnsOfTable(table), rowsOf(parts));
  } finally {
    await parts.return();
  }
}

/** Column names must be unique, but a fee head may be named like another column. */
function columnsOfTable({ headings, types }: Table): readonly TableColumn[] {
  const taken = new Set<string>();
  return headings.map((wanted, index) => {
    let heading = wanted;
    for (let number = 2; taken.has(heading); number += 1) heading = `${wanted} ${number}`;
    taken.add(heading);
    return { heading, type: types[index] ?? 'text', isList: false };
  });
}

async function* rowsOf(parts: AsyncIterable<TablePart>): AsyncGenerator<readonly TableLine[], void> {
  for await (const { part, content, table } of parts) {
    if (part === 'row') yield table.linesOf(content).map((cells) => cells.map(({ value }) => value));
  }
}

export function printXlsx(
  report: Pick<ReportForm, 'title' | 'row'>,
  head: ReportHead,
  lines: AsyncIterable<ReportStreamLine>,
  timeZone?: string,
): AsyncIterable<Uint8Array> {
  const warnings: JsonObject[] = [];
  return printWorkbook([
    { name: 'Report', firstLine: 'frozen', rows: reportRows() },
    { name: 'About', firstLine: 'moving', rows: aboutRows(report.title, head, warnings) },
  ]);

  async function* reportRows(): AsyncGenerator<string, void> {
    let totals: readonly Cell[] | undefined;
    for await (const { part, content, table } of withTable(report, lines)) {
      if (part === 'warning') warnings.push(content);
      if (part === 'totals') {
        totals = table.lineOf(content);
        yield printRow(table.headings.map((heading) => textCell(heading, STYLE.heading)));
      }
      if (part !== 'row') continue;
      for (const cells of table.linesOf(content))
        yield printRow(inZone(cells, timeZone).map(({ type, value }) => printCell(type, value)));
    }
    if (totals) yield printRow(printTotals(totals));
  }
}

/** The first cell without a total contains the label of the line. */
function printTotals(cells: readonly Cell[]): readonly string[] {
  const place = cells.findIndex(({ value }) => value === null);
  return cells.map((cell, index) => {
    if (index === place) return textCell('Total', STYLE.totalText);
    if (cell.value === null) return `<c s="${STYLE.totalText}"/>`;
    if (cell.type === 'money') return numberCell(cell.value, STYLE.totalMoney);
    if (cell.type === 'whole' || cell.type === 'number' || cell.type === 'percent')
      return numberCell(cell.value, STYLE.totalNumber);
    return textCell(cell.value, STYLE.totalText);
  });
}

async function* aboutRows(
  title: string,
  head: ReportHead,
  warnings: readonly JsonObject[],
): AsyncGenerator<string, void> {
  const facts: readonly (readonly [string, JsonValue])[] = [
    ['Report', title],
    ['Generated at (UTC)', head.generatedAt],
    ['Currency', head.currency],
    ...Object.entries(head.parameters).map(([name, value]) => [headingOf(name), value] as const),
    ...warnings.map(({ count, collection, reason, ids }) => {
      return ['Left out', `${count} of ${collection}: ${reason} (${[ids].flat().join(', ')})`] as const;
    }),
  ];
  for (const [name, value] of facts) {
    const text = value === null ? '' : String(value);
    yield printRow([textCell(name, STYLE.heading), textCell(text, STYLE.plain)]);
  }
}

export async function* printJson(
  head: ReportHead,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncIterable<string> {
  let totals = '{}';
  const warnings: string[] = [];
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let separator = '';
  for await (const { part, json } of lines) {
    if (part === 'totals') totals = json;
    if (part === 'warning') warnings.push(json);
    if (part !== 'row') continue;
    yield `${separator}${json}`;
    separator = ',';
  }
  yield `],"totals":${totals},"warnings":[${warnings.toSorted().join(',')}]}`;
}

/** Only the rows, one per line. */
export async function* printNdjson(lines: AsyncIterable<ReportStreamLine>): AsyncIterable<string> {
  for await (const { part, json } of lines) {
    if (part === 'row') yield `${json.replaceAll('\n', ' ')}\n`;
  }
}
