/**
 * A report as an XLSX workbook, written as a stream: rows with a line of totals on the first sheet, the
 * parameters and the warnings on the second.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../../base/json/json.js';
import { numberCell, printCell, printRow, STYLE, textCell } from '../../../base/tables/print-cell.js';
import { Workbook } from '../../../base/tables/workbook.js';
import { headingOf } from './columns.js';
import type { ReportForm, ReportHead, ReportStreamLine } from './report-lines.js';
import { type Cell, inZone, type Table, tableOf } from './table.js';

export async function* printXlsx(
  report: Pick<ReportForm, 'title' | 'row' | 'totals'>,
  head: ReportHead,
  lines: AsyncIterable<ReportStreamLine>,
  timeZone?: string,
): AsyncIterable<Uint8Array> {
  const workbook = new Workbook(['Report', 'About']);
  const sheet = workbook.openSheet({ firstLine: 'frozen' });
  let table: Table | undefined;
  let totals: JsonObject = {};
  const warnings: JsonObject[] = [];
  for await (const { part, json } of lines) {
    const content = parseExactJson(json);
    if (!isJsonObject(content)) continue;
    if (part === 'warning') warnings.push(content);
    if (part === 'totals') {
      totals = content;
      table = tableOf(report.row, content);
      sheet.push(printRow(table.headings.map((heading) => textCell(heading, STYLE.heading))));
    }
    if (part === 'row' && table) {
      for (const cells of table.linesOf(content))
        sheet.push(printRow(inZone(cells, timeZone).map(({ type, value }) => printCell(type, value))));
      yield* workbook.takeChunk();
    }
  }
  if (table) sheet.push(printRow(printTotals(table.totalsLine(totals))));
  sheet.end('');
  workbook.openSheet({ firstLine: 'moving' }).end(aboutRows(report.title, head, warnings).join(''));
  workbook.end();
  yield* workbook.takeAll();
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

function aboutRows(title: string, head: ReportHead, warnings: readonly JsonObject[]): readonly string[] {
  const facts: readonly (readonly [string, JsonValue])[] = [
    ['Report', title],
    ['Generated at (UTC)', head.generatedAt],
    ['Currency', head.currency],
    ...Object.entries(head.parameters).map(([name, value]) => [headingOf(name), value] as const),
    ...warnings.map(
      (warning) =>
        [
          'Left out',
          `${warning.count} of ${warning.collection}: ${warning.reason} (${[warning.ids].flat().join(', ')})`,
        ] as const,
    ),
  ];
  return facts.map(([name, value]) =>
    printRow([textCell(name, STYLE.heading), textCell(value === null ? '' : String(value), STYLE.plain)]),
  );
}
