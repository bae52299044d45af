/** What is wrong with rows is told by the headings of their file, and all of it at once. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();
const { ask, rested, run, take } = importSteps(gateway);

const HEADINGS = 'Adm No,Student Name,Class,Section,Sex,Date of Birth,Session,Admitted on';

async function errorsOf(rows: readonly string[]) {
  const { id } = await take('registration', [HEADINGS, ...rows, ''].join('\n'));
  await ask('POST', `/imports/${id}/dry-run`);
  expect(await rested(id)).toMatchObject({ state: 'tried' });
  const response = await gateway.fetch(`/imports/${id}/errors`, { as: 'admin' });
  const errors: readonly { number: number; faults: readonly { column: string; detail: string }[] }[] =
    JSON.parse(await response.text());
  return errors.map(({ number, faults }) => [
    number,
    ...faults.map(({ column, detail }) => [column, detail]),
  ]);
}

describe('what is wrong with the rows of a file', () => {
  it('is told by its headings, whether a cell, a rule or another row says so', async () => {
    const right = (number: number) => `R-${number},Anu,5,A,F,13/02/2015,2026-27,2026-04-01`;
    expect(
      await errorsOf([
        'H-1,Anu,5,A,X,13/02/2015,2026-27,2026-04-01',
        'H-1,Anu,5,A,F,13/02/2015,2026,2026-04-01',
        ',Ravi,5,A,F,13/02/2015,2026-27,2026-04-01',
        'H-4,Ravi,5,A,F,yesterday,2026,2026-04-01',
        ...Array.from({ length: 20 }, (_, number) => right(number)),
      ]),
    ).toEqual([
      [2, ['Sex', 'Sex: one of male, female, other is expected, "X" was sent']],
      [
        3,
        ['Session', 'Session: a session YYYY-YY, e.g. 2026-27 is expected, "2026" was sent'],
        ['Adm No', 'row 2 of the file has the same Adm No'],
      ],
      [4, ['Adm No', 'the row has no Adm No to tell its record by']],
      [
        5,
        [
          'Date of Birth',
          'Date of Birth: a day such as 31/03/2026 (DD/MM/YYYY) is expected, not "yesterday"',
        ],
        ['Session', 'Session: a session YYYY-YY, e.g. 2026-27 is expected, "2026" was sent'],
      ],
    ]);
  });
});

describe('what a file would do in silence', () => {
  it('is warned of, and refused where a default would stand in the place of a column', async () => {
    const marks = 'Adm No,When,Class,Section,Status\nGV-01001,16/11/2026,5,A,absent\n';
    const { id, inspection, mapping } = await take('attendance', marks);
    expect(inspection.warnings).toContainEqual(expect.stringContaining('The column "When" goes to no field'));
    const refused = await gateway.fetch(`/imports/${id}/dry-run`, { method: 'POST', as: 'admin' });
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('\\"created\\" would get its default'),
    ]);
    const columns = mapping.columns.map((one) => (one.field === null ? { ...one, leftOut: true } : one));
    const meant = await ask('PUT', `/imports/${id}/mapping`, { columns });
    expect(meant.inspection.warnings.filter((warning) => warning.includes('When'))).toEqual([]);
    await ask('POST', `/imports/${id}/dry-run`);
    expect(await rested(id)).toMatchObject({ state: 'tried' });
  });

  it('refuses cells that a spreadsheet has destroyed, and takes fillers for no value', async () => {
    const row = (number: string, phone: string) =>
      `${number},Anu,5,A,F,13/02/2015,2026-27,2026-04-01,${phone}`;
    const { id } = await take(
      'registration',
      [
        `${HEADINGS},Phone`,
        row('D-1', '9.15854E+11'),
        row('2.02512E+11', '-'),
        row('D-3', '#N/A'),
        row('D-4', 'NA'),
        '',
      ].join('\n'),
    );
    await ask('POST', `/imports/${id}/dry-run`);
    expect((await rested(id)).counts).toMatchObject({ created: 1, refused: 3 });
  });

  it('shows old and new values, and how many are overwritten', async () => {
    const first = await take(
      'registration',
      `${HEADINGS},Phone\nO-1,Anu,5,A,F,13/02/2015,2026-27,2026-04-01,\n`,
    );
    await run(first.id);
    const again = `${HEADINGS},Phone\nO-1,Anu Rao,5,A,F,13/02/2015,2026-27,2026-04-01,+919876543210\n`;
    const { id } = await take('registration', again);
    await ask('POST', `/imports/${id}/dry-run`);
    expect((await rested(id)).trial).toMatchObject({
      fields: expect.arrayContaining([
        { field: 'name', records: 1, overwritten: 1 },
        { field: 'guardian_phone', records: 1, overwritten: 0 },
      ]),
      preview: [
        {
          outcome: 'update',
          changes: expect.arrayContaining([
            { field: 'name', before: 'Anu', after: 'Anu Rao' },
            { field: 'guardian_phone', before: null, after: '+919876543210' },
          ]),
        },
      ],
    });
  });
});
