import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { ExactNumber } from '../../../../src/base/json/json.js';
import { STYLE, textCell } from '../../../../src/base/tables/workbook.js';
import { inspectSource } from '../../../../src/services/importing/reading/inspect-source.js';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import type { SourceOptions } from '../../../../src/services/importing/reading/row-source.js';
import { runsOf } from '../../../full-length.js';
import { allRows, type ReadFile, readSource, withFile } from './source-fixture.js';

const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

interface Fixture {
  /** The XML within each sheet, by name. */
  readonly sheets?: Readonly<Record<string, string>>;
  readonly hidden?: readonly string[];
  readonly strings?: readonly string[];
  readonly formats?: readonly (string | number)[];
  readonly is1904?: boolean;
  readonly parts?: Zippable;
}

/** A workbook of sheets; the nth style has the nth format: a code, or the number of a known one. */
function workbookOf({
  sheets = {},
  hidden = [],
  strings,
  formats = [],
  is1904,
  parts = {},
}: Fixture): Uint8Array {
  const names = Object.keys(sheets);
  const codes = formats.map((format, index) => ({
    id: typeof format === 'number' ? format : 164 + index,
    format,
  }));
  const files: Record<string, string> = {
    '_rels/.rels': `<r><Relationship Id="a" Type="${TYPE}/officeDocument" Target="xl/workbook.xml"/></r>`,
    'xl/workbook.xml': `<workbook xmlns:r="r"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${names
      .map(
        (name, index) =>
          `<sheet name="${name}" r:id="s${index}"${hidden.includes(name) ? ' state="hidden"' : ''}/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${names
      .map(
        (_, index) =>
          `<Relationship Id="s${index}" Type="${TYPE}/worksheet" Target="worksheets/s${index}.xml"/>`,
      )
      .join('')}<Relationship Id="t" Type="${TYPE}/styles" Target="/xl/styles.xml"/>
      <Relationship Id="u" Type="${TYPE}/sharedStrings" Target="strings.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet><numFmts>${codes
      .filter(({ format }) => typeof format === 'string')
      .map(({ id, format }) => `<numFmt numFmtId="${id}" formatCode="${escapeXml(String(format))}"/>`)
      .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${codes
      .map(({ id }) => `<xf numFmtId="${id}"/>`)
      .join('')}</cellXfs></styleSheet>`,
  };
  if (strings) files['xl/strings.xml'] = `<sst>${strings.map((one) => `<si>${one}</si>`).join('')}</sst>`;
  for (const [index, name] of names.entries()) {
    files[`xl/worksheets/s${index}.xml`] =
      `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet>${sheets[name]}</worksheet>`;
  }
  const texts = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)]));
  return zipSync({ ...texts, ...parts });
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Rows of inline texts and other cells: a text is XML of a cell where it begins with `<c`. */
function sheetOf(...rows: readonly (readonly string[])[]): string {
  const xml = rows.map(
    (cells) => `<row>${cells.map((cell) => (cell.startsWith('<c') ? cell : text(cell))).join('')}</row>`,
  );
  return `<sheetData>${xml.join('')}</sheetData>`;
}

function text(value: string): string {
  return value === ''
    ? '<c/>'
    : `<c t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`;
}

async function read(fixture: Fixture, options: SourceOptions = {}): Promise<ReadFile> {
  return await readSource(workbookOf(fixture), 'x.xlsx', options);
}

/** The value of one cell below the header `a`. */
async function valueIn(cell: string, fixture: Fixture = {}): Promise<unknown> {
  const { rows } = await read({ ...fixture, sheets: { S: sheetOf(['a', 'b'], [cell, 'x']) } });
  return rows[0]?.fault ?? rows[0]?.values.a;
}

describe('a workbook', () => {
  it('is read by column name, each row with the number it has in the sheet', async () => {
    const rows =
      '<row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" t="s"><v>1</v></c></row>' +
      '<row r="4"><c r="A4"><v>9</v></c><c r="B4" t="s"><v>2</v></c><c r="D4"><v>1.5</v></c></row>' +
      '<row r="5"><c r="B5" s="3"/></row>' +
      '<row r="7"><c r="D7" t="b"><v>1</v></c></row>';
    const { source, rows: read2 } = await read({
      sheets: { 'Class 5': `<sheetData>${rows}</sheetData>` },
      strings: [
        '<t>Name</t>',
        '<r><t>Pai</t></r><r><rPr/><t>d</t></r><rPh><t>x</t></rPh>',
        '<t xml:space="preserve"> Asha &amp; &#x930;वि</t>',
      ],
    });
    expect(source).toMatchObject({ format: 'xlsx', sheet: 'Class 5', sheets: ['Class 5'], header: 2 });
    expect(source.columns).toEqual(['column 1', 'Name', 'column 3', 'Paid']);
    expect(read2).toEqual([
      {
        number: 4,
        values: { 'column 1': 9, Name: ' Asha & रवि', 'column 3': null, Paid: 1.5 },
        source: ['9', ' Asha & रवि', '', '1.5'],
      },
      {
        number: 7,
        values: { 'column 1': null, Name: null, 'column 3': null, Paid: true },
        source: ['', '', '', 'true'],
      },
    ]);
  });

  it('gives back any table that was written', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
      fc.constantFrom('', 'आशा', '<&>"', ' x '),
    );
    const tables = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(tables, fc.boolean(), async (table, isShared) => {
        const rows = table.filter((cells) => cells.some((one) => one.trim() !== ''));
        const strings = rows.flat().map((one) => `<t>${escapeXml(one)}</t>`);
        const shared = rows.map((cells, row) => cells.map((_, at) => `<c t="s"><v>${row * 2 + at}</v></c>`));
        const { rows: found } = await read({
          sheets: { S: sheetOf(['a', 'b'], ...(isShared ? shared : rows)) },
          ...(isShared && { strings }),
        });
        // XML has one end of a line, and a blank cell holds nothing.
        expect(found.map(({ values }) => Object.values(values))).toEqual(
          rows.map((cells) => cells.map((one) => (one === '' ? null : one))),
        );
      }),
      runsOf(200),
    );
  });

  it.each<[string, unknown]>([
    ['<c><v>12.5</v></c>', 12.5],
    ['<c><v>12.50</v></c>', new ExactNumber('12.50')],
    ['<c><v>0.10000000000000001</v></c>', 0.1],
    ['<c><v>1.2345678901234567E+19</v></c>', 1.2345678901234567e19],
    ['<c t="b"><v>0</v></c>', false],
    ['<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>', 'ax'],
    ['<c><f>1+1</f><v>2</v></c>', 2],
    ['<c t="d"><v>2026-03-31</v></c>', '2026-03-31'],
    ['<c><f>1+1</f></c>', expect.stringMatching(/^cell A2 is a formula without a value; open the workbook/)],
    ['<c><f>1+1</f><v></v></c>', expect.stringMatching(/^cell A2 is a formula without a value/)],
    ['<c t="str"><f>""</f><v></v></c>', null],
    ['<c t="e"><v>#N/A</v></c>', 'cell A2 holds the error #N/A; correct it, or empty the cell'],
  ])('has the value of %s', async (cell, value) => {
    expect(await valueIn(cell)).toEqual(value);
  });

  it.each(['2', '1', '0', '-7', '2.5', 'x', '99999999999'])('refuses row %s behind row 2', async (number) => {
    const rows = ['1', '2', number].map((one) => `<row r="${one}"><c><v>1</v></c></row>`);
    const sheets = { S: `<sheetData>${rows.join('')}</sheetData>` };
    await expect(read({ sheets })).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(`Row ${number} of the sheet comes after row 2. Save`),
    });
  });

  it('names the column of a cell that makes its row wrong', async () => {
    const sheet = sheetOf(['a', 'b'], ['<c><v>1</v></c>', '<c t="e"><v>#REF!</v></c>'], ['2', '3']);
    const { rows } = await read({ sheets: { S: sheet } });
    expect(rows.map(({ faultColumn }) => faultColumn)).toEqual(['b', undefined]);
  });

  it.each<[string | number, string, unknown]>([
    [14, '45747', '2025-03-31'],
    [14, '1', '1900-01-01'],
    [14, '59', '1900-02-28'],
    [14, '61', '1900-03-01'],
    [22, '45747.395833333336', '2025-03-31T09:30:00'],
    [22, '45747', '2025-03-31T00:00:00'],
    [14, '45747.999999999', '2025-04-01'],
    [20, '0.395833333333333', '09:30:00'],
    [46, '1.5', '1900-01-01T12:00:00'],
    ['dd/mm/yyyy', '45747', '2025-03-31'],
    ['[$-409]d\\-mmm\\-yy;@', '45747', '2025-03-31'],
    ['mmm', '45747', '2025-03-31'],
    ['yyyy\\-mm\\-dd\\ hh:mm:ss', '45747.5', '2025-03-31T12:00:00'],
    ['yyyy\\-mm\\-dd\\ hh:mm:ss\\ "UTC"', '45747.50000001157', '2025-03-31T12:00:00.001Z'],
    ['[h]:mm', '0.5', '12:00:00'],
    ['0.00', '45747', 45747],
    ['00000', '501', '00501'],
    ['000000;@', '9876543', '9876543'],
    ['00000', '1.5', 1.5],
    ['0'.repeat(200_000), '501', 501],
    ['00000', '-501', -501],
    [1, '501', 501],
    [9, '0.1', '10%'],
    ['0.0#%;[Red]-0.0#%', '0.125', '12.5%'],
    ['0%', '0.07', '7%'],
    ['0"%"', '7', 7],
    ['#,##0.00 "days"', '45747', 45747],
    ['[Red]0', '45747', 45747],
    ['General', '45747', 45747],
    [14, '60', expect.stringMatching(/^cell A2 shows 60 as a day, but it is not one/)],
    [14, '-1', expect.stringMatching(/^cell A2 shows -1 as a day/)],
  ])('shows by its format %j what %s is', async (format, serial, value) => {
    expect(await valueIn(`<c s="0"><v>${serial}</v></c>`, { formats: [format] })).toEqual(value);
  });

  it('has the rows that a filter hides, and says so', async () => {
    const [start, ...rows] = sheetOf(['a', 'b'], ['1', '2'], ['3', '4'], ['5', '6']).split('<row>');
    const sheet = `${[start, rows[0], rows[1]].join('<row>')}<row hidden="1">${rows.slice(2).join('<row>')}`;
    const content = workbookOf({ sheets: { S: sheet } });
    const { rows: read2 } = await readSource(content, 'x.xlsx');
    expect(read2.map(({ isHidden }) => isHidden)).toEqual([undefined, true, undefined]);
    const { warnings } = await withFile(
      content,
      async (path) => await inspectSource(await openRowSource({ path })),
    );
    expect(warnings).toEqual([
      'Rows that the sheet hides, such as row 3, are read like all others: 1. ' +
        'Delete them if they are not to be imported.',
    ]);
  });

  it('may reckon days from 1904', async () => {
    expect(await valueIn('<c s="0"><v>44285</v></c>', { formats: [14], is1904: true })).toBe('2025-03-31');
  });

  it('has the sheet that is named, else the first that is shown and has rows', async () => {
    const sheets = { Old: sheetOf(['x', 'y']), Empty: '<sheetData/>', Now: sheetOf(['a', 'b'], ['1', '2']) };
    const { source } = await read({ sheets, hidden: ['Old'] });
    expect(source).toMatchObject({ sheet: 'Now', sheets: ['Old', 'Empty', 'Now'] });
    expect(source.warnings).toEqual([
      'Only the sheet "Now" is read; the workbook has "Empty" too. Give sheet=<name> to read another one.',
    ]);
    const named = await read({ sheets, hidden: ['Old'] }, { sheet: 'old' });
    expect(named.source).toMatchObject({ columns: ['x', 'y'], warnings: [] });
    await expect(read({ sheets }, { sheet: 'None' })).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      message: 'The workbook has no sheet "None".',
      errors: [expect.objectContaining({ expected: 'Old, Empty, Now' })],
    });
    await expect(read({ sheets: { Empty: '<sheetData/>' } })).rejects.toThrow('The file has no rows');
  });

  it('has the value of merged cells in each of their rows', async () => {
    const data = sheetOf(
      ['class', 'name'],
      ['5', 'Asha'],
      ['', 'Ravi'],
      ['', ''],
      ['6', 'Meera'],
      ['', 'Om'],
    );
    const merged = '<mergeCells count="2"><mergeCell ref="A2:A4"/><mergeCell ref="A1:B1"/></mergeCells>';
    const { source, rows } = await read({ sheets: { S: data + merged } });
    expect(source.warnings).toEqual([expect.stringMatching(/^2 areas of merged cells/)]);
    expect(rows.map(({ number, values }) => [number, values.class, values.name])).toEqual([
      [2, '5', 'Asha'],
      [3, '5', 'Ravi'],
      [5, '6', 'Meera'],
      [6, null, 'Om'],
    ]);
  });

  it('has merged cells behind however many rows', async () => {
    const rows = Array.from({ length: 30_000 }, (_, row) => [
      row === 1 ? '' : `${row}`,
      `${row ** 3}`.repeat(9),
    ]);
    const merged = '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>';
    const { rows: found } = await read({ sheets: { S: sheetOf(['a', 'b'], ...rows) + merged } });
    expect(found).toHaveLength(30_000);
    expect(found[1]?.values.a).toBe('0');
  });

  it('has a fault in a row that is longer than the header', async () => {
    const { rows } = await read({ sheets: { S: sheetOf(['a', 'b'], ['1', '2', '3'], ['1']) } });
    expect(rows.map(({ fault }) => fault)).toEqual([
      'row 2 has a value in column 3, the header 2 columns; name it',
      undefined,
    ]);
  });

  it('may have more texts than are held in memory', async () => {
    const long = 'आशा '.repeat(200);
    const strings = Array.from({ length: 9_000 }, (_, index) => `<t>${index} ${long}</t>`);
    const cells = strings.map((_, index) => [`<c t="s"><v>${8_999 - index}</v></c>`, 'x']);
    const { rows } = await read({ sheets: { S: sheetOf(['a', 'b'], ...cells) }, strings });
    expect(rows).toHaveLength(9_000);
    expect(rows.at(0)?.values.a).toBe(`8999 ${long}`);
    expect(rows.at(5_000)?.values.a).toBe(`3999 ${long}`);
  });

  it('is read anew at each pass, and leaves a pass early', async () => {
    const content = workbookOf({ sheets: { S: sheetOf(['a', 'b'], ['1', '2'], ['3', '4']) } });
    await withFile(content, async (path) => {
      const source = await openRowSource({ path });
      for await (const _ of source.rows()) break;
      expect(await allRows(source)).toHaveLength(2);
      await expect(allRows(source, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    });
  });
});

describe('the characters that a workbook escapes', () => {
  it.each([
    ['_x000D_', '\r'],
    ['_x0041_sha_x000d_ Rao', 'Asha\r Rao'],
    ['_x005F_x0041_', '_x0041_'],
    ['_x41_ _X0041', '_x41_ _X0041'],
  ])('%s is %j, and comes back', async (written, read) => {
    expect(await valueIn(`<c t="inlineStr"><is><t>${written}</t></is></c>`)).toBe(read);
    expect(await valueIn('<c t="s"><v>0</v></c>', { strings: [`<t>${written}</t>`] })).toBe(read);
    expect(await valueIn(textCell(read, STYLE.plain))).toBe(read);
  });
});

describe('a workbook that is none, or is damaged', () => {
  it.each<[string, Uint8Array, string]>([
    ['another zip file', zipSync({ 'a.txt': strToU8('a') }), 'The file is a zip file, not a workbook'],
    ['cut', workbookOf({ sheets: { S: sheetOf(['a']) } }).subarray(0, 300), 'The workbook is damaged'],
    ['without sheets', workbookOf({}), 'The workbook has no sheets.'],
    [
      'without the part of a sheet',
      workbookOf({
        sheets: { S: '' },
        parts: {
          'xl/_rels/workbook.xml.rels': strToU8(
            `<r><Relationship Id="s0" Type="${TYPE}/worksheet" Target="gone.xml"/></r>`,
          ),
        },
      }),
      'The workbook has no part xl/gone.xml',
    ],
    [
      'not XML',
      workbookOf({ sheets: { S: '<sheetData><row></sheetData>' } }),
      'xl/worksheets/s0.xml in the workbook is not XML',
    ],
    [
      'with a text that is not there',
      workbookOf({ sheets: { S: sheetOf(['<c t="s"><v>7</v></c>']) }, strings: ['<t>a</t>'] }),
      'Cell A1 names a text that the workbook does not have',
    ],
    [
      'with entities of its own',
      workbookOf({
        parts: {
          'xl/workbook.xml': strToU8(
            '<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><workbook>&b;</workbook>',
          ),
        },
      }),
      'xl/workbook.xml in the workbook declares a document type',
    ],
  ])('is refused: %s', async (_, bytes, message) => {
    await expect(readSource(bytes, 'x.xlsx')).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(message),
    });
  });

  it('is refused where a part is another than its checksum says', async () => {
    const bytes = workbookOf({ sheets: { S: sheetOf(['a', 'b'], ['1', '2']) } });
    // The packed bytes of the last part, the sheet.
    const at = Buffer.from(bytes).lastIndexOf('xl/worksheets/s0.xml', -200) + 30;
    bytes.fill(0xff, at, at + 4);
    await expect(readSource(bytes, 'x.xlsx')).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' });
  });
});

describe('a limit of a workbook', () => {
  it.each<[string, Uint8Array, string]>([
    [
      'ratio',
      workbookOf({ parts: { 'bomb.xml': new Uint8Array(3_000_000) } }),
      'bomb.xml in the workbook is packed',
    ],
    [
      'parts',
      zipSync(
        Object.fromEntries(Array.from({ length: 10_001 }, (_, part) => [`${part}`, new Uint8Array(0)])),
        { level: 0 },
      ),
      'The workbook has 10001 parts; at most 10000 are read.',
    ],
    [
      'columns far to the right',
      workbookOf({ sheets: { S: '<sheetData><row r="1"><c r="ZZZZZ1"><v>1</v></c></row></sheetData>' } }),
      'at most 2000 are read',
    ],
    [
      'cell',
      workbookOf({ sheets: { S: sheetOf(['a'], [randomBytes(600_000).toString('hex')]) } }),
      'Cell A2 has more than 1048576 characters',
    ],
    [
      'cell of 100 MB',
      workbookOf({
        parts: { 'xl/workbook.xml': [strToU8(`<workbook>${'x'.repeat(100 * 1024 ** 2)}`), { level: 0 }] },
      }),
      'A text in xl/workbook.xml of the workbook (line 1) is longer than 8388608 bytes',
    ],
  ])('names itself and what would be right: %s', async (_, bytes, message) => {
    await expect(readSource(bytes, 'x.xlsx')).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining(message),
    });
  });
});
