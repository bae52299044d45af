/** What is wrong with rows is told by the headings of their file, and all of it at once. */
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { importSteps } from './import-steps.js';

const gateway = useGateway();
const { ask, rested, run, take, records } = importSteps(gateway);

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
      [4, ['Adm No', 'the row has no Adm No to identify its record']],
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
    expect(inspection.warnings).toContainEqual(
      expect.stringContaining('The column "When" is not mapped to a field'),
    );
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

  it('warns of admission numbers that have lost their zeros', async () => {
    const row = (number: string) => `${number},Anu,5,A,F,13/02/2015,2026-27,2026-04-01`;
    const doubtsOf = async (...numbers: string[]) => {
      const { id, inspection } = await take('registration', [HEADINGS, ...numbers.map(row), ''].join('\n'));
      return { id, doubts: inspection.warnings.filter((warning) => warning.includes('zeros')) };
    };
    const stored = await doubtsOf('007301', '7399');
    expect(stored.doubts).toEqual([]);
    await run(stored.id);
    const text = (count: number, number: string, other: string) =>
      `"Adm No" has numbers that differ from others only in leading zeros: ${count}, such as ${number} ` +
      `(there is ${other}). A spreadsheet may have removed zeros; such rows become records of their own.`;
    expect((await doubtsOf('7301', '7302')).doubts).toEqual([text(1, '7301', '007301')]);
    expect((await doubtsOf('07399', '007301')).doubts).toEqual([text(1, '07399', '7399')]);
    expect((await doubtsOf('7303', '07303')).doubts).toEqual([text(2, '7303', '07303')]);
    expect((await doubtsOf('7304', 'A-7301', '73010')).doubts).toEqual([]);
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

describe('a register with a column for each day', () => {
  it('is tried and written as a mark for each day that has one', async () => {
    const student = (number: number) => `W-${number},Anu,5,A,F,13/02/2015,2026-27,2026-04-01`;
    await run((await take('registration', `${HEADINGS}\n${student(1)}\n${student(2)}\n`)).id);
    const sheet = [
      'Attendance of November 2026,,,,,,,',
      'Adm No,Class,Section,2,3 Tue,4,5,6',
      'W-1,5,A,P,A,P,,P',
      'W-2,5,A,P,P,HD,P,',
    ].join('\n');
    const { id, inspection, mapping } = await take('attendance', sheet);
    expect(inspection.warnings).toContainEqual(
      expect.stringContaining('The headings "2" to "6" are days or months'),
    );
    expect(mapping.columns.map(({ column, field }) => [column, field])).toEqual([
      ['Adm No', 'student.sequence'],
      ['Class', 'class'],
      ['Section', 'section'],
      ['day', 'created'],
      ['value', 'status'],
    ]);
    const values = { P: 'present', A: 'absent', HD: 'half_day' };
    const columns = mapping.columns.map((one) => (one.column === 'value' ? { ...one, values } : one));
    await ask('PUT', `/imports/${id}/mapping`, { ...mapping, columns });
    await ask('POST', `/imports/${id}/dry-run`);
    expect((await rested(id)).trial?.counts).toMatchObject({ rows: 8, created: 8, refused: 0 });
    expect(await run(id)).toMatchObject({ state: 'done', counts: { created: 8 } });
    const marks = await records('attendance', 'created=>2026-11-01');
    expect(marks.map(({ created, status }) => [created, status])).toContainEqual([
      expect.stringMatching(/^2026-11-0[34]/),
      'half_day',
    ]);
  });
});

describe('a dry run', () => {
  const tried = async (collection: string, csv: string, options = 'mode=rows') => {
    const { id } = await take(collection, csv);
    await ask('POST', `/imports/${id}/dry-run?${options}`);
    return await rested(id);
  };

  it('says that no admin would be left', async () => {
    const users = await records('pltf_user');
    const admins = users.filter(({ roles }) => Array.isArray(roles) && roles.includes('admin'));
    const lines = admins.map(({ _id }) => `${_id},false`);
    expect(await tried('pltf_user', `_id,active\n${lines.join('\n')}\n`)).toMatchObject({
      state: 'failed',
      fault: { code: 'CONFLICT', detail: expect.stringContaining('last admin') },
    });
  });

  it('refuses what the run refuses, such as a value that an earlier row has taken', async () => {
    const [student] = await records('registration', 'sequence=W-1');
    const mark = (day: number) => ({
      ...{ _id: `dry-${day}`, student: { value: student?._id }, class: '5', section: 'A', status: 'present' },
      created: `2026-11-${day}T05:00:00Z`,
    });
    for (const day of [21, 22]) await ask('POST', '/o/attendance', mark(day));
    const moved = '_id,created\ndry-21,2026-11-23\ndry-22,2026-11-23\n';
    const { id, trial, fault } = await tried('attendance', moved);
    const done = await run(id, 'mode=rows');
    expect({ ...trial?.counts, fault }).toEqual({ ...done.counts, fault: done.fault });
    expect(done.counts).toMatchObject({ updated: 1, refused: 1 });
  });
});

describe('a full list that is written as a whole', () => {
  it('removes what it does not have, and nothing else', async () => {
    await run((await take('task', '_id,name\nwhole-1,One\nwhole-2,Two\nwhole-3,Three\n')).id);
    const { id } = await take('task', '_id,name\nwhole-1,One\nwhole-3,Three!\n');
    await ask('POST', `/imports/${id}/dry-run?missing=remove`);
    const { trial } = await rested(id);
    expect(trial?.counts).toMatchObject({ same: 1, updated: 1 });
    const done = await run(id, 'mode=atomic');
    expect(done).toMatchObject({ state: 'done', counts: trial?.counts });
    expect((await records('task')).map(({ _id }) => _id)).toEqual(['whole-1', 'whole-3']);
  });
});

describe('undoing an import whose records are in use', () => {
  it('is refused, unless an admin forces it', async () => {
    const one = 'F-1,Anu,5,A,F,13/02/2015,2026-27,2026-04-01';
    const { id } = await run((await take('registration', `${HEADINGS}\n${one}\n`)).id);
    const [student] = await records('registration', 'sequence=F-1');
    const value = { value: student?._id };
    const mark = { student: value, class: '5', section: 'A', status: 'present', created: '2026-11-10' };
    await ask('POST', '/o/attendance', mark);
    await expect(ask('POST', `/imports/${id}/undo`)).rejects.toThrow('An admin may pass force: true');
    await ask('POST', `/imports/${id}/undo?force=true`);
    expect(await rested(id)).toMatchObject({ state: 'undone' });
    expect(await records('registration', 'sequence=F-1')).toEqual([]);
  });
});
