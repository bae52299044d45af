/** A report as CSV (RFC 4180): a heading, one line per row, CRLF. Totals and warnings are left out. */
import { isJsonObject, parseExactJson } from '../../../base/json/json.js';
import { printCsvLine } from '../../../base/tables/csv-line.js';
import type { ReportForm, ReportStreamLine } from './report-lines.js';
import { inZone, tableOf } from './table.js';

interface CsvOptions {
  readonly byteOrderMark?: 'with' | 'without';
  readonly timeZone?: string | undefined;
}

export async function* printCsv(
  report: Pick<ReportForm, 'row' | 'totals'>,
  lines: AsyncIterable<ReportStreamLine>,
  { byteOrderMark, timeZone }: CsvOptions,
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
        .map((cells) => printCsvLine(inZone(cells, timeZone).map(({ value }) => value || null)))
        .join('');
  }
}
