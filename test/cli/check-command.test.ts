/** `campus check` on the demo school, and on records that were stored past the gateway. */
import { expect, it } from '@jest/globals';
import { useDemoFolder } from './use-demo-folder.js';

const school = useDemoFolder({ students: 36, today: '2026-07-15' });

it('finds nothing in the demo school', async () => {
  expect(await school.run('check')).toMatchObject({
    code: 0,
    output: 'Every record obeys the rules of its collection.\n',
  });
});

it('counts what breaks a rule, points to nothing or is there twice, and changes nothing', async () => {
  await school.sql.query(`
    insert into records (domain, collection, id, data)
    select domain, collection, new.id, records.data || new.data
    from records, (values
      ('bad-1', '{"sequence": "X-1", "name": 5}'::jsonb),
      ('bad-2', '{"sequence": "x-1 ", "session": "2026"}'),
      ('bad-3', '{"sequence": "X-3", "session": "26"}')
    ) as new(id, data)
    where collection = 'registration' and records.id = (
      select min(id) from records where domain = 'demo' and collection = 'registration' and deleted_at is null
    )`);
  await school.sql.query(`
    update records set data = jsonb_set(data, '{student,value}', '"nobody"')
    where (domain, collection, id) in (
      select domain, collection, id from records
      where domain = 'demo' and collection = 'fee_due' order by id limit 3
    )`);
  const before = await school.count(`audit_entries`);
  const { code, output } = await school.run('check --domain demo --json');
  expect(code).toBe(1);
  const found = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  for (const expected of [
    { field: 'name', count: 1, examples: ['bad-1'] },
    { field: 'session', count: 2, examples: ['bad-2', 'bad-3'] },
    { field: 'sequence', count: 1, examples: ['bad-2'], problem: expect.stringContaining('there twice') },
  ]) {
    expect(found).toContainEqual(
      expect.objectContaining({ domain: 'demo', collection: 'registration', ...expected }),
    );
  }
  expect(found).toContainEqual(
    expect.objectContaining({ collection: 'fee_due', field: 'student', count: 3 }),
  );
  const { output: table } = await school.run('check --domain demo --collection fee_due');
  expect(table).toContain('fee_due.student');
  expect(table).not.toContain('registration.name');
  expect(await school.count(`audit_entries`)).toBe(before);
});
