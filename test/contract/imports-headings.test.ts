/** What is wrong with rows is told by the headings of their file, and all of it at once. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();
const { ask, rested, take } = importSteps(gateway);

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
