/** A report's rows as Parquet: the columns of its table, each in its type. */
import { isJsonObject, parseExactJson } from '../../../base/json/json.js';
import type { TableColumn, TableLine } from '../../../base/tables/cell.js';
import { printParquet } from '../../../base/tables/parquet.js';
import type { ReportForm, ReportStreamLine } from './report-lines.js';
import { type Table, tableOf } from './table.js';

export async function* printReportParquet(
  report: Pick<ReportForm, 'row' | 'totals'>,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncGenerator<Uint8Array, void> {
  const parts = lines[Symbol.asyncIterator]();
  try {
    const first = await parts.next();
    // The totals come first, because they determine the columns.
    const totals = first.done ? {} : parseExactJson(first.value.json);
    const table = tableOf(report.row, isJsonObject(totals) ? totals : {});
    yield* printParquet(columnsOfTable(table), rowsOf(table, { [Symbol.asyncIterator]: () => parts }));
  } finally {
    await parts.return?.();
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

async function* rowsOf(
  table: Table,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncGenerator<readonly TableLine[], void> {
  for await (const { part, json } of lines) {
    const content = part === 'row' ? parseExactJson(json) : undefined;
    if (isJsonObject(content)) yield table.linesOf(content).map((cells) => cells.map(({ value }) => value));
  }
}
