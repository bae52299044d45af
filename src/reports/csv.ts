/** A report as CSV (RFC 4180): a heading, a line a row, CRLF. Totals and warnings are no lines of a table and stay out. */
import { isJsonObject, parseExactJson } from '../json.js';
import { disarmFormula, printCsvLine } from './csv-line.js';
import type { Report } from './report.js';
import type { ReportStreamLine } from './report-run.js';
import { type Cell, tableOf } from './table.js';

export async function* printCsv(
  report: Pick<Report, 'row' | 'totals'>,
  lines: AsyncIterable<ReportStreamLine>,
  byteOrderMark: 'with' | 'without',
): AsyncIterable<string> {
  let table: ReturnType<typeof tableOf> | undefined;
  for await (const { part, json } of lines) {
    const content = parseExactJson(json);
    if (!isJsonObject(content)) continue;
    if (part === 'totals') {
      table = tableOf(report.row, content);
      yield (byteOrderMark === 'with' ? '\uFEFF' : '') + printCsvLine(table.headings);
    }
    if (part === 'row' && table)
      yield table
        .linesOf(content)
        .map((cells) => printCsvLine(cells.map(printCell)))
        .join('');
  }
}

function printCell(cell: Cell): string {
  if (cell.value === null) return '';
  return cell.type === 'text' ? disarmFormula(cell.value) : cell.value;
}
