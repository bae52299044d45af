import { describe, expect, it } from '@jest/globals';
import {
  inspectSource,
  type SourceInspection,
} from '../../../../src/services/importing/reading/inspect-source.js';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import { withFile } from './source-fixture.js';

async function inspected(text: string, options: { maxRows?: number } = {}): Promise<SourceInspection> {
  return await withFile(text, async (path) => await inspectSource(await openRowSource({ path }), options));
}

/** What one column of these cells most likely is: its kind, and its format. */
async function likely(cells: readonly string[], column = 'x'): Promise<string> {
  const text = [column, ...cells].map((cell) => `"${cell}",1\n`).join('');
  const { columns } = await inspected(text);
  const found = columns[0]?.likely;
  return [found?.kind, found?.format].filter(Boolean).join(' ');
}

describe('the inspection of a table', () => {
  it('tells of each column what it holds, and which cells are something else', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => `A${index},${index % 3},${index + 10}/03/2026`);
    const inspection = await inspected(
      `no,class,joined\n${rows.join('\n')}\n`.replace('12/03/2026', '45747').replace('A5,2', 'A5,'),
    );
    expect(inspection).toMatchObject({ format: 'csv', delimiter: ',', header: 1, rows: 20, isWhole: true });
    expect(inspection.columns).toEqual([
      {
        column: 'no',
        filled: 20,
        blank: 0,
        distinct: 20,
        isDistinctExact: true,
        examples: ['A0', 'A1', 'A2', 'A3', 'A4'],
        values: expect.any(Array),
        likely: { kind: 'text' },
        kinds: [],
        misfits: { count: 0, samples: [] },
      },
      expect.objectContaining({
        column: 'class',
        filled: 19,
        blank: 1,
        distinct: 3,
        likely: { kind: 'integer', format: 'plain' },
      }),
      expect.objectContaining({
        column: 'joined',
        likely: { kind: 'day', format: 'DD/MM/YYYY' },
        misfits: { count: 1, samples: [{ number: 4, value: '45747' }] },
      }),
    ]);
  });

  it.each([
    ['integer plain', ['1', '22', '-3']],
    ['integer grouped', ['1,20,000', '5', '2,500']],
    ['number plain', ['1', '2.50']],
    ['number grouped', ['1,20,000.50', '12']],
    ['number european', ['1.200,50', '12,5']],
    ['day DD/MM/YYYY', ['31/03/2026', '01/04/2026']],
    ['day DD/MM/YYYY', ['01/02/2026', '03/04/2026']],
    ['day MM/DD/YYYY', ['03/31/2026', '04/01/2026']],
    ['day DD/MM/YY', ['31/03/26', '01/04/26']],
    ['day YYYY-MM-DD', ['2026-03-31']],
    ['day DD MMM YYYY', ['31-Mar-2026']],
    ['day YYYYMMDD', ['20260331', '20260401']],
    ['instant YYYY-MM-DD', ['2026-03-31T09:30:00+05:30', '2026-03-31 09:30']],
    ['instant DD/MM/YYYY', ['31/03/2026 09:30 PM']],
    ['boolean', ['Yes', 'No', 'yes']],
    ['boolean', ['Y', 'N']],
    ['integer plain', ['1', '0']],
    ['phone', ['9876543210', '+91 98765 43210']],
    ['phone', ['011-23456789', '9876543210']],
    ['email', ['asha@example.org', 'r.k@school.edu.in']],
    ['text', ['007', '012']],
    ['text', ['Asha', 'Ravi']],
    ['text', ['', '']],
    ['text', ['1', 'two', '3']],
  ])('finds %s: %j', async (expected, cells) => {
    expect(await likely(cells)).toBe(expected);
  });

  it('takes numbers for days only where the column is called so', async () => {
    expect(await likely(['45747', '45748'], 'admission no')).toBe('integer plain');
    expect(await likely(['45747', '45748'], 'date_of_birth')).toBe('day serial');
    expect(await likely(['1774929600000'], 'created at')).toBe('instant epoch-milliseconds');
  });

  it('lists all that cells may be', async () => {
    const { columns } = await inspected('day\n01/02/2026\n31/03/2026\n');
    expect(columns[0]?.kinds).toEqual([
      { kind: 'day', format: 'DD/MM/YYYY', count: 2 },
      { kind: 'day', format: 'MM/DD/YYYY', count: 1 },
    ]);
  });

  it('warns of days of which nobody can tell which number is the month', async () => {
    const { warnings } = await inspected(
      'born,left\n01/06/2015,31/03/26\n14/09/2015,x\n09/14/2015,01/02/26\n',
    );
    expect(warnings).toEqual([
      '"born" has days with the day first (14/09/2015, row 3) ' +
        'and with the month first (09/14/2015, row 4): 01/02/2026 may mean either. ' +
        'Write all days in one way.',
    ]);
  });

  it.each([
    [
      'left',
      'born,left\n02/29/2016,04/01/2026\n',
      ['MM/DD/YYYY', 'MM/DD/YYYY'],
      'month first, as "born" shows',
    ],
    [
      'left',
      'born,left\n29/02/2016,04/01/2026\n',
      ['DD/MM/YYYY', 'DD/MM/YYYY'],
      'day first, as "born" shows',
    ],
    ['at', 'born,at\n02/29/2016,04/01/2026 09:30\n', ['MM/DD/YYYY', 'MM/DD/YYYY'], 'month first, as "born"'],
    ['left', 'born,left\n05/05/2016,04/01/2026\n', ['DD/MM/YYYY', 'DD/MM/YYYY'], 'day first; choose another'],
  ])(
    'reads the days of all columns of a file alike, and names %s: %j',
    async (column, text, formats, order) => {
      const { columns, warnings } = await inspected(text);
      expect(columns.map(({ likely: { format } }) => format)).toEqual(formats);
      const [warning = ''] = warnings;
      expect(warnings).toHaveLength(1);
      expect(warning).toContain(`The days of "${column}" may be read in two ways (04/01/2026`);
      expect(warning).toContain(`They are read with the ${order}`);
    },
  );

  it('tells fillers and destroyed values', async () => {
    const { columns } = await inspected('phone,x\n9.15854E+11,-\n#N/A,N/A\n9876543210,nil\n0000000000,5\n');
    expect(columns.map(({ fillers, damaged }) => [fillers, damaged?.count])).toEqual([
      [['0000000000'], 2],
      [['-', 'N/A', 'nil'], undefined],
    ]);
  });

  it.each(['Total', 'Grand Total:', 'कुल', 'Sub-total of June'])(
    'warns of a last row of sums: %s',
    async (sum) => {
      const { warnings } = await inspected(`name,amount\nRoof,500\nBell,750\n${sum},1250\n`);
      expect(warnings).toEqual([
        `The last row (4) begins with "${sum}": ` +
          'where it adds up the rows above, take it out, or it becomes a record.',
      ]);
    },
  );

  it('does not take rows above the last one, or those of which the end was not seen, for sums', async () => {
    expect((await inspected('name,amount\nTotal,1\nSummit,2\n')).warnings).toEqual([]);
    expect((await inspected('name,amount\nTotal,1\nBell,2\n', { maxRows: 1 })).warnings).toEqual([]);
  });

  it('shows lists and objects among the cells of documents as JSON', async () => {
    const rows = Array.from({ length: 20 }, (_, index) => `{"marks":[${index},12.50]}\n`);
    const { columns } = await inspected(rows.join(''));
    expect(columns.map(({ column, examples }) => [column, examples[0]])).toEqual([['marks', '[0,12.50]']]);
  });

  it('may be of the first rows alone', async () => {
    expect(await inspected('a\n1\n2\n3\n', { maxRows: 2 })).toMatchObject({ rows: 2, isWhole: false });
    expect(await inspected('a\n1\n2\n', { maxRows: 2 })).toMatchObject({ rows: 2, isWhole: true });
  });

  it('counts the rows that are wrong as a whole apart', async () => {
    const inspection = await inspected('a,b\n1,2\n3\n4,5\n');
    expect(inspection.faults).toEqual({
      count: 1,
      samples: [{ number: 3, fault: expect.stringContaining('1 cells') }],
    });
    expect(inspection.columns[0]).toMatchObject({ filled: 2, blank: 0 });
  });

  it('counts different values up to a bound, and says so', async () => {
    const { columns } = await inspected(
      `a\n${Array.from({ length: 10_001 }, (_, row) => `${row}\n`).join('')}`,
    );
    expect(columns[0]).toMatchObject({ distinct: 10_000, isDistinctExact: false });
  });
});

describe('the inspection of documents of MongoDB', () => {
  it('names what no record can hold, and what becomes of it', async () => {
    const lines = [
      '{"_id":{"$oid":"65f000000000000000000001"},"fee":{"$numberDouble":"NaN"},"a.b":1}',
      '{"_id":{"$oid":"65f000000000000000000002"},"fee":{"$numberDouble":"NaN"},"born":{"$date":0}}',
    ];
    expect((await inspected(`${lines.join('\n')}\n`)).warnings).toEqual([
      '"fee" is NaN in document 1 and 1 more; in the record it is left out.',
      '"a.b" is a field name that no path can hold in document 1; in the record it is the field a_b.',
    ]);
  });

  it('says how far it has looked, and lists no more than twenty kinds', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `"a.${index}":1`);
    const document = `{"_id":{"$oid":"65f000000000000000000001"},${names.join()}}`;
    const { warnings } = await inspected(`${document}\n${document}\n`, { maxRows: 1 });
    expect(warnings).toHaveLength(22);
    expect(warnings.slice(20)).toEqual([
      '2 more values or names of documents are not kept as they are.',
      'Only the first 1 documents were looked at for such values.',
    ]);
  });
});
