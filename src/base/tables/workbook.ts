/**
 * Writes an XLSX file (ECMA-376) as a stream. Strings are inline and zip entries have no length in advance,
 * so that nothing has to wait for the end.
 */
import type { CellType } from './cell.js';
import { printZip, type ZipEntry } from './print-zip.js';
import { encodeXstring } from './xstring.js';

/** The most lines of a sheet, heading included, that spreadsheet programs read. */
export const MAX_SHEET_LINES = 1_048_576;

/** The date of all zip entries, so that the same content always makes the same file. */
const ENTRY_TIME = new Date('2000-01-01T12:00:00Z');

export interface WorkbookSheet {
  readonly name: string;
  readonly firstLine: 'frozen' | 'moving';
  /** The XML of its rows, taken after the sheets before it. */
  readonly rows: AsyncIterable<string>;
}

export function printWorkbook(sheets: readonly WorkbookSheet[]): AsyncGenerator<Uint8Array, void> {
  return printZip(entriesOf(sheets), ENTRY_TIME);
}

async function* entriesOf(sheets: readonly WorkbookSheet[]): AsyncGenerator<ZipEntry, void> {
  for (const [path, text] of partsOf(sheets.map(({ name }) => name))) yield { path, content: [text] };
  for (const [index, sheet] of sheets.entries()) {
    yield { path: `xl/worksheets/sheet${index + 1}.xml`, content: contentOf(sheet) };
  }
}

async function* contentOf({ firstLine, rows }: WorkbookSheet): AsyncGenerator<string, void> {
  const view = firstLine === 'frozen' ? FROZEN_FIRST_LINE : '';
  yield `${XML}<worksheet xmlns="${MAIN}">${view}<sheetData>`;
  yield* rows;
  yield '</sheetData></worksheet>';
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const FROZEN_FIRST_LINE =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ' +
  'state="frozen"/></sheetView></sheetViews>';
const SHEET_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Formats from 164 on are our own; 4 is #,##0.00. The format of instants contains "UTC", because a workbook
 * has no other place for the time zone.
 */
const STYLES =
  `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="3"><numFmt numFmtId="164" ` +
  `formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" ` +
  `formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss\\ &quot;UTC&quot;"/><numFmt numFmtId="166" ` +
  `formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>` +
  '<fonts count="2"><font><sz val="11"/><name ' +
  'val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills ' +
  'count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill ' +
  'patternType="gray125"/></fill></fills><borders count="2"><border/><border><left/><right/><top ' +
  'style="thin"/><bottom/><diagonal/></border></borders><cellStyleXfs ' +
  'count="1"><xf/></cellStyleXfs><cellXfs count="10"><xf/><xf fontId="1" applyFont="1"/><xf ' +
  'numFmtId="4" applyNumberFormat="1"/><xf numFmtId="164" applyNumberFormat="1"/><xf numFmtId="165" ' +
  'applyNumberFormat="1"/><xf numFmtId="0"/><xf fontId="1" borderId="1" applyFont="1" ' +
  'applyBorder="1"/><xf numFmtId="4" fontId="1" borderId="1" applyNumberFormat="1" applyFont="1" ' +
  'applyBorder="1"/><xf fontId="1" borderId="1" applyFont="1" applyBorder="1"/><xf numFmtId="166" ' +
  'applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" ' +
  'builtinId="0"/></cellStyles></styleSheet>';

/** The files of the workbook other than its sheets, with their paths. */
function partsOf(sheetNames: readonly string[]): readonly (readonly [string, string])[] {
  const numbers = sheetNames.map((_, index) => index + 1);
  const overrides = numbers.map(
    (number) =>
      `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${SHEET_TYPE}.worksheet+xml"/>`,
  );
  const sheets = sheetNames.map(
    (name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  );
  const relationships = numbers.map(
    (number) =>
      `<Relationship Id="rId${number}" Type="${RELATIONSHIPS}/worksheet" ` +
      `Target="worksheets/sheet${number}.xml"/>`,
  );
  return [
    [
      '[Content_Types].xml',
      `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ` +
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default ' +
        'Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ' +
        `ContentType="${SHEET_TYPE}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ` +
        `ContentType="${SHEET_TYPE}.styles+xml"/>${overrides.join('')}</Types>`,
    ],
    [
      '_rels/.rels',
      `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" ` +
        `Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
    [
      'xl/workbook.xml',
      `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}">` +
        `<sheets>${sheets.join('')}</sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `${XML}<Relationships xmlns="${PACKAGE}/relationships">${relationships.join('')}<Relationship ` +
        `Id="rId${sheetNames.length + 1}" Type="${RELATIONSHIPS}/styles" ` +
        'Target="styles.xml"/></Relationships>',
    ],
    ['xl/styles.xml', STYLES],
  ];
}

/** Indexes into `cellXfs` of the styles of a workbook. */
export const STYLE = {
  plain: 0,
  heading: 1,
  money: 2,
  day: 3,
  instant: 4,
  number: 5,
  totalText: 6,
  totalMoney: 7,
  totalNumber: 8,
  localInstant: 9,
} as const;

/** The longest text of a cell; spreadsheets report files with longer ones as damaged. */
const MAX_CELL_CHARACTERS = 32_767;
const CUT = '…';
/** Spreadsheets wrongly count a 29 February 1900. */
const FIRST_DAY = '1900-03-01';

export function printRow(cells: readonly string[]): string {
  return `<row>${cells.join('')}</row>`;
}

export function printCell(type: CellType, value: string | null): string {
  if (value === null) return '<c/>';
  switch (type) {
    case 'money':
      return numberCell(value, STYLE.money);
    case 'whole':
    case 'decimal':
      return numberCell(value, STYLE.plain);
    case 'number':
    case 'percent':
      return numberCell(value, STYLE.number);
    case 'day':
      return dateCell(`${value}T00:00:00Z`, value, STYLE.day);
    case 'instant':
      return instantCell(value);
    case 'flag':
      return `<c t="b"><v>${value === 'true' ? 1 : 0}</v></c>`;
    case 'month':
    case 'json':
    case 'text':
      return textCell(value, STYLE.plain);
  }
}

export function textCell(text: string, style: number): string {
  const printed = escapeXml(encodeXstring(cut(text)));
  return `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${printed}</t></is></c>`;
}

/**
 * Whether a cell preserves the text. It does not preserve an empty text, which looks like no cell; half of a
 * character; the first days of 1900, which spreadsheets count wrongly; and numbers of 16 or 17 digits,
 * which are read as floats.
 */
export function workbookHolds(type: CellType, text: string): boolean {
  switch (type) {
    case 'day':
    case 'instant':
      return text >= FIRST_DAY;
    case 'flag':
      return true;
    case 'month':
    case 'json':
    case 'text':
      return text !== '' && text.isWellFormed();
    case 'whole':
    case 'number':
    case 'percent':
    case 'money':
    case 'decimal': {
      const { length } = text.replace(/e.*/i, '').replaceAll(/\D/g, '').replace(/^0+/, '');
      return length < 16 || length > 17;
    }
  }
}

/** A text that is not a number is shown as it is. */
export function numberCell(digits: string, style: number): string {
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(digits)) return textCell(digits, STYLE.plain);
  return `<c s="${style}"><v>${escapeXml(digits)}</v></c>`;
}

/** Days since 1899-12-30, the workbook's day 0. A text that is not a date is shown as it is. */
function dateCell(instant: string, text: string, style: number): string {
  const milliseconds = Date.parse(instant);
  if (Number.isNaN(milliseconds)) return textCell(text, STYLE.plain);
  return numberCell(String(milliseconds / 86_400_000 + 25_569), style);
}

/** In UTC, or a day or local time of the school. @see localText */
function instantCell(value: string): string {
  if (value.endsWith('Z')) return dateCell(value, value, STYLE.instant);
  if (value.length === 10) return printCell('day', value);
  return dateCell(`${value.replace(' ', 'T')}Z`, value, STYLE.localInstant);
}

/** Ends a text that is too long in an ellipsis, never between the halves of a character. */
function cut(text: string): string {
  if (text.length <= MAX_CELL_CHARACTERS) return text;
  return `${text.slice(0, MAX_CELL_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '')}${CUT}`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
