/**
 * A report as an XLSX workbook (ECMA-376), written as it streams: rows on the first sheet with a line of
 * totals, what was asked and what was left out on the second. Strings are inline and the zip entries are of
 * unknown length, so nothing waits for the end.
 *
 * No cell is a formula: texts, headings too, are inline strings, which a spreadsheet does not run. Numbers,
 * percents and money are numbers with their format, days are dates, instants dates with a time in UTC. A
 * spreadsheet computes in floats: amounts over fifteen digits lose their last ones there, as in any workbook.
 */
import { Zip, ZipDeflate } from 'fflate';
import { isJsonObject, type JsonObject, type JsonValue, parseExactJson } from '../../json.js';
import { headingOf } from './columns.js';
import type { ReportForm, ReportHead, ReportStreamLine } from './report-lines.js';
import { type Cell, type Table, tableOf } from './table.js';

/** Indexes into `cellXfs` of STYLES. */
const STYLE = {
  plain: 0,
  heading: 1,
  money: 2,
  day: 3,
  instant: 4,
  number: 5,
  totalText: 6,
  totalMoney: 7,
  totalNumber: 8,
} as const;

/** Bytes are handed on once so many are there: a chunk a row would cost more than it carries. */
const CHUNK_BYTES = 64 * 1024;

export async function* printXlsx(
  report: Pick<ReportForm, 'title' | 'row' | 'totals'>,
  head: ReportHead,
  lines: AsyncIterable<ReportStreamLine>,
): AsyncIterable<Uint8Array> {
  const workbook = new Workbook();
  for (const [path, text] of PARTS) workbook.file(path, text);
  const sheet = workbook.open('xl/worksheets/sheet1.xml');
  sheet.push(
    `${SHEET_START}<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ` +
      'state="frozen"/></sheetView></sheetViews><sheetData>',
  );
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
      for (const cells of table.linesOf(content)) sheet.push(printRow(cells.map(printCell)));
      yield* workbook.take(CHUNK_BYTES);
    }
  }
  if (table) sheet.push(printRow(printTotals(table.totalsLine(totals))));
  sheet.end('</sheetData></worksheet>');
  const about = workbook.open('xl/worksheets/sheet2.xml');
  about.end(
    `${SHEET_START}<sheetData>${aboutRows(report.title, head, warnings).join('')}</sheetData></worksheet>`,
  );
  workbook.end();
  yield* workbook.take(0);
}

/** A zip file whose entries are written one after the other. */
class Workbook {
  readonly #zip: Zip;
  readonly #ready: Uint8Array[] = [];
  #readyBytes = 0;

  constructor() {
    this.#zip = new Zip((error, chunk) => {
      if (error) throw error;
      this.#ready.push(chunk);
      this.#readyBytes += chunk.length;
    });
  }

  file(path: string, text: string): void {
    this.open(path).end(text);
  }

  open(path: string): { push(text: string): void; end(text: string): void } {
    const entry = new ZipDeflate(path, { level: 6 });
    this.#zip.add(entry);
    return {
      push: (text) => entry.push(Buffer.from(text)),
      end: (text) => entry.push(Buffer.from(text), true),
    };
  }

  end(): void {
    this.#zip.end();
  }

  /** What is ready, once it is at least so much. */
  *take(least: number): Iterable<Uint8Array> {
    if (this.#readyBytes <= least) return;
    yield Buffer.concat(this.#ready.splice(0));
    this.#readyBytes = 0;
  }
}

function printRow(cells: readonly string[]): string {
  return `<row>${cells.join('')}</row>`;
}

function printCell({ type, value }: Cell): string {
  if (value === null) return '<c/>';
  switch (type) {
    case 'money':
      return numberCell(value, STYLE.money);
    case 'whole':
      return numberCell(value, STYLE.plain);
    case 'number':
    case 'percent':
      return numberCell(value, STYLE.number);
    case 'day':
      return dateCell(`${value}T00:00:00Z`, value, STYLE.day);
    case 'instant':
      return dateCell(value, value, STYLE.instant);
    case 'flag':
      return `<c t="b"><v>${value === 'true' ? 1 : 0}</v></c>`;
    case 'month':
    case 'text':
      return textCell(value, STYLE.plain);
  }
}

/** The first cell that no total stands in says what the line is. */
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

function textCell(text: string, style: number): string {
  return `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
}

/** What is no number is shown as it is. */
function numberCell(digits: string, style: number): string {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(digits)) return textCell(digits, STYLE.plain);
  return `<c s="${style}"><v>${escapeXml(digits)}</v></c>`;
}

/** Days since 1899-12-30, the workbook's day 0. What is no date is shown as it is. */
function dateCell(instant: string, text: string, style: number): string {
  const milliseconds = Date.parse(instant);
  if (Number.isNaN(milliseconds)) return textCell(text, STYLE.plain);
  return numberCell(String(milliseconds / 86_400_000 + 25_569), style);
}

function escapeXml(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      // XML 1.0 has no way to write these.
      .replaceAll(/(?![\t\n\r])\p{Cc}|\p{Cs}|[\ufffe\uffff]/gu, '\ufffd')
  );
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const SHEET_START = `${XML}<worksheet xmlns="${MAIN}">`;
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Formats 164 on are our own; 4 is #,##0.00. */
const STYLES =
  `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" ` +
  `formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" ` +
  `formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name ` +
  'val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills ' +
  'count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill ' +
  'patternType="gray125"/></fill></fills><borders count="2"><border/><border><left/><right/><top ' +
  'style="thin"/><bottom/><diagonal/></border></borders><cellStyleXfs ' +
  'count="1"><xf/></cellStyleXfs><cellXfs count="9"><xf/><xf fontId="1" applyFont="1"/><xf ' +
  'numFmtId="4" applyNumberFormat="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" ' +
  'applyNumberFormat="1"/><xf numFmtId="0"/><xf fontId="1" borderId="1" applyFont="1" ' +
  'applyBorder="1"/><xf numFmtId="4" fontId="1" borderId="1" applyNumberFormat="1" applyFont="1" ' +
  'applyBorder="1"/><xf fontId="1" borderId="1" applyFont="1" applyBorder="1"/></cellXfs></styleSheet>';

/** The parts that are the same in every workbook. */
const PARTS: readonly (readonly [string, string])[] = [
  [
    '[Content_Types].xml',
    `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ` +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default ' +
      'Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ' +
      `ContentType="${SHEET_TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ` +
      `ContentType="${SHEET_TYPE}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ` +
      `ContentType="${SHEET_TYPE}.worksheet+xml"/><Override PartName="/xl/worksheets/sheet2.xml" ` +
      `ContentType="${SHEET_TYPE}.worksheet+xml"/></Types>`,
  ],
  [
    '_rels/.rels',
    `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" ` +
      `Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
  [
    'xl/workbook.xml',
    `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="Report" ` +
      'sheetId="1" r:id="rId1"/><sheet name="About" sheetId="2" r:id="rId2"/></sheets></workbook>',
  ],
  [
    'xl/_rels/workbook.xml.rels',
    `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" ` +
      `Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" ` +
      `Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet2.xml"/><Relationship Id="rId3" ` +
      `Type="${RELATIONSHIPS}/styles" Target="styles.xml"/></Relationships>`,
  ],
  ['xl/styles.xml', STYLES],
];
