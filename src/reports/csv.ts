/** A report as CSV (RFC 4180): a heading, a line a row, CRLF. Totals and warnings are no lines of a table and stay out. */
import { isJsonObject, parseExactJson } from '../json.js';
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
      yield (byteOrderMark === 'with' ? '\uFEFF' : '') + printLine(table.headings);
    }
    if (part === 'row' && table)
      yield table
        .linesOf(content)
        .map((cells) => printLine(cells.map(printCell)))
        .join('');
  }
}

function printLine(cells: readonly string[]): string {
  return `${cells.map(quote).join(',')}\r\n`;
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function printCell(cell: Cell): string {
  if (cell.value === null) return '';
  return cell.type === 'text' ? disarm(cell.value) : cell.value;
}

/** A text that a spreadsheet would run as a formula is shown as text. A phone number or a signed number is none. */
function disarm(text: string): string {
  return /^[=@\t\r]|^[+-](?![\d ()-]+$)/.test(text) ? `'${text}` : text;
}
