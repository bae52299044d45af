/** CSV and XLSX of a report, read back. */
import { describe, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import { dailyFeeCollection } from '../../../src/school/reports/daily-fee-collection.js';
import { dailyUniqueSms } from '../../../src/school/reports/daily-unique-sms.js';
import type { ReportStreamLine } from '../../../src/school/reports/engine/print-report.js';
import { printCsv } from '../../../src/school/reports/engine/print-report.js';
import type { Report } from '../../../src/school/reports/engine/report.js';
import type { AnswerOptions } from '../../../src/school/reports/engine/report-run.js';
import { feeDefaulters } from '../../../src/school/reports/fee-defaulters.js';
import { rolledBackReceipts } from '../../../src/school/reports/rolled-back-receipts.js';
import { classesByCategory } from '../../../src/school/reports/strength.js';
import { ADMIN, scopeOf, useTwelveStudents } from '../../fixtures/twelve-students/school.js';

const school = useTwelveStudents();

async function read(report: Report, sent: Record<string, string>, options: AnswerOptions) {
  const answer = (await report.run(school.services, scopeOf(ADMIN), sent)).answer(options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  return { ...answer, bytes: Buffer.concat(chunks) };
}

const DAYS = { from: '2026-10-08', to: '2026-10-09', payment_type: 'all', as_on: '2026-12-20' };

describe('CSV', () => {
  it('has a heading and a line a row, lists by fee head and way of paying as columns', async () => {
    const { bytes, contentType, fileName } = await read(dailyFeeCollection, DAYS, { format: 'csv' });
    expect(contentType).toBe('text/csv; charset=utf-8');
    expect(fileName).toBe('daily-fee-collection_2026-10-08_2026-10-09_all_RECEIPT_on-2026-12-20.csv');
    expect(bytes.toString()).toBe(
      [
        'Day,Receipts,Rolled back,First receipt no,Last receipt no,Tuition,Transport,Fine,Total,' +
          'cash,cheque,card,neft',
        '2026-10-08,1,0,R-1,R-1,1000.00,0.00,0.00,1000.00,1000.00,0.00,0.00,0.00',
        '2026-10-09,2,0,R-2,R-3,1600.00,0.00,0.00,1600.00,0.00,600.00,1000.00,0.00',
        '',
      ].join('\r\n'),
    );
  });

  it('has the same columns whatever was paid, and as JSON what was', async () => {
    const headings = async (report: Report, sent: Record<string, string>) =>
      (await read(report, sent, { format: 'csv' })).bytes.toString().split('\r\n')[0];
    const none = { ...DAYS, from: '2026-09-01', to: '2026-09-01' };
    expect(await headings(dailyFeeCollection, none)).toBe(await headings(dailyFeeCollection, DAYS));
    expect(await headings(rolledBackReceipts, {})).toContain(',Transport,');
    const json = (await read(dailyFeeCollection, DAYS, { format: 'json' })).bytes.toString();
    expect(json).not.toContain('Transport');
  });

  it('has a line a section, with its class and category', async () => {
    const { bytes } = await read(classesByCategory, { session: '2026-27' }, { format: 'csv' });
    expect(bytes.toString().split('\r\n').slice(0, 3)).toEqual([
      'Category,Class,Section,Class teacher id,Class teacher,Room,' +
        'Strength,Boys,Girls,Other,Capacity,Free seats',
      'Pre-primary,UKG,A,,,,0,0,0,0,20,20',
      'Primary,1,A,usr-ravi,Ravi Kumar,101,2,1,1,0,30,28',
    ]);
  });

  it('begins with a byte order mark where asked, and keeps Devanagari and phone numbers', async () => {
    const sent = {
      start_month: '2026-12',
      end_month: '2026-12',
      as_on: '2026-12-20',
      class: '5',
      section: 'A',
    };
    const { bytes } = await read(feeDefaulters, sent, { format: 'csv', byteOrderMark: 'with' });
    expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect(bytes.toString()).toContain(
      'stu-03,A-103,चित्रा देवी,5,A,3,सीता देवी,+919800000003,1000.00,100.00,900.00,0.00,900.00',
    );
  });

  it('quotes commas, quotes and line ends, and disarms formulas', async () => {
    async function* lines(): AsyncIterable<ReportStreamLine> {
      yield { part: 'totals', json: '{}' };
      yield {
        part: 'row',
        json: JSON.stringify({
          to: '+91 98',
          text: '=HYPERLINK("x","y"),\n',
          recipient: '-2+3',
          messages: 1,
          statuses: [],
        }),
      };
    }
    let text = '';
    for await (const chunk of printCsv(dailyUniqueSms, lines(), {})) text += chunk;
    expect(text.split('\r\n')[1]).toBe(`+91 98,'-2+3,"'=HYPERLINK(""x"",""y""),\n",,1,,,,`);
  });
});

describe('XLSX', () => {
  it('is a workbook with numbers as numbers, dates as dates and a line of totals', async () => {
    const { bytes, contentType, fileName } = await read(dailyFeeCollection, DAYS, { format: 'xlsx' });
    expect(contentType).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(fileName).toMatch(/\.xlsx$/);
    const parts = Object.fromEntries(
      Object.entries(unzipSync(bytes)).map(([path, part]) => [path, strFromU8(part)]),
    );
    expect(Object.keys(parts).sort()).toEqual([
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/workbook.xml',
      'xl/worksheets/sheet1.xml',
      'xl/worksheets/sheet2.xml',
    ]);
    const rows = [...(parts['xl/worksheets/sheet1.xml'] ?? '').matchAll(/<row>(.*?)<\/row>/gs)].map(
      ([, row]) => row,
    );
    expect(rows).toHaveLength(4);
    // 2026-10-08 is day 46303 of the workbook's calendar.
    expect(rows[1]).toContain('<c s="3"><v>46303</v></c><c s="0"><v>1</v></c>');
    expect(rows[1]).toContain('<c s="2"><v>1000.00</v></c>');
    expect(rows[3]).toContain('Total');
    expect(rows[3]).toContain('<c s="7"><v>2600.00</v></c>');
    expect(parts['xl/worksheets/sheet2.xml']).toContain('Daily fee collection by head');
  });
});
