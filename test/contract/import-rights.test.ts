/** Who imports over HTTP, and which scripts run for it. */
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { type Role, useGateway } from './gateway.js';
import { importSteps, studentRow, studentSheet } from './import-steps.js';

const gateway = useGateway({ IMPORT_ROLES: 'admin,clerk', MAX_RECORDS_PER_WRITE: '5' });
const { ask, rested, take, run, records, refusal } = importSteps(gateway);

describe('who imports', () => {
  it('needs a role for it, the rights to write there, and a credential', async () => {
    const body = 'name\nx\n';
    expect(await refusal('POST', '/imports?collection=holiday', undefined, body)).toMatchObject({
      status: 401,
    });
    expect(await refusal('POST', '/imports?collection=holiday', 'teacher', body)).toMatchObject({
      status: 403,
    });
    expect(await refusal('POST', '/imports?collection=pltf_user', 'clerk', body)).toMatchObject({
      status: 403,
    });
    expect(await refusal('POST', '/imports?collection=nowhere', 'admin', body)).toMatchObject({
      status: 404,
    });
    expect(await refusal('POST', '/imports', 'admin', body)).toMatchObject({ status: 400 });
    expect(await refusal('POST', '/imports?collection=holiday', 'admin')).toMatchObject({ status: 400 });
    expect(await refusal('POST', '/imports?collection=holiday&mode=some', 'admin', body)).toMatchObject({
      status: 400,
    });
  });

  it('is told by me', async () => {
    const mayImport = async (as: Role) => {
      const response = await gateway.fetch('/graphql', {
        method: 'POST',
        as,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ me { mayImport } }' }),
      });
      return ((await response.json()) as { data: { me: { mayImport: boolean } } }).data.me.mayImport;
    };
    expect([await mayImport('admin'), await mayImport('clerk'), await mayImport('teacher')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('sees its own imports, and an admin all; nobody those of another domain', async () => {
    const { id } = await ask(
      'POST',
      '/imports?collection=registration&name=c.csv',
      studentSheet(studentRow('C-1')),
      'clerk',
    );
    expect(await rested(id, 'clerk')).toMatchObject({ state: 'ready', createdBy: 'usr-clerk' });
    expect((await gateway.fetch(`/imports/${id}`, { as: 'admin' })).status).toBe(200);
    expect(await refusal('GET', `/imports/${id}`, 'accountant')).toMatchObject({ status: 404 });
    for (const file of ['errors.csv', 'outcomes.csv']) {
      expect(await refusal('GET', `/imports/${id}/${file}`, 'accountant')).toMatchObject({ status: 404 });
    }
    await gateway.sql.query(`insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top')`);
    const other = await gateway.fetch(`/imports/${id}`, { as: 'admin', headers: { 'x-domain': 'branch' } });
    expect(other.status).toBe(404);
  });

  it('is stopped when a role was taken away meanwhile', async () => {
    const { id } = await ask(
      'POST',
      '/imports?collection=registration&name=d.csv',
      studentSheet(studentRow('D-1')),
      'clerk',
    );
    await rested(id, 'clerk');
    await gateway.sql.query(
      `update records set data = jsonb_set(data, '{roles}', '["viewer"]') where id = 'usr-clerk'`,
    );
    try {
      // What the gateway has in mind of the caller lasts a moment; the job asks anew.
      await ask('POST', `/imports/${id}/run`, undefined, 'clerk');
      const failed = await rested(id);
      expect(failed).toMatchObject({ state: 'failed', fault: { code: 'FORBIDDEN' } });
      expect(await records('registration', 'sequence=D-1')).toEqual([]);
    } finally {
      await gateway.sql.query(
        `update records set data = jsonb_set(data, '{roles}', '["clerk"]') where id = 'usr-clerk'`,
      );
    }
  });
});

describe.each(['atomic', 'rows'] as const)('an import under way, mode=%s', (mode) => {
  const becomeAll = async (roles: readonly string[]) =>
    await gateway.sql.query(
      `update records set data = jsonb_set(data, '{roles}', $1::jsonb) where id = 'usr-clerk'`,
      [JSON.stringify(roles)],
    );

  it('writes no further batch once its caller has lost the right', async () => {
    const first = await take('registration', studentSheet(studentRow(`${mode}-0`)), '&by=sequence');
    await run(first.id);
    const rows = Array.from({ length: 12 }, (_, n) => studentRow(`${mode}-${n}`, { name: 'Later' }));
    const sheet = studentSheet(...rows);
    const { id } = await ask(
      'POST',
      '/imports?collection=registration&name=l.csv&by=sequence',
      sheet,
      'clerk',
    );
    await rested(id, 'clerk');
    const locker = await gateway.sql.connect();
    try {
      await locker.query('begin');
      await locker.query(`select from records where data->>'sequence' = $1 for update`, [`${mode}-0`]);
      await ask('POST', `/imports/${id}/run?mode=${mode}`, undefined, 'clerk');
      // The first batch waits for the lock.
      await eventually(async () => {
        const { rows: waiting } = await gateway.sql.query(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        );
        return waiting.length > 0;
      });
      await becomeAll(['viewer']);
      await locker.query('commit');
      expect(await rested(id)).toMatchObject({ state: 'failed', fault: { code: 'FORBIDDEN' } });
      const written = await records('registration', 'name=Later');
      expect(written).toHaveLength(mode === 'atomic' ? 0 : 5);
    } finally {
      locker.release();
      await becomeAll(['clerk']);
    }
  });
});

describe('scripts', () => {
  it('run for an import only where that is asked for, and the answer says which', async () => {
    const code = `export default ({ record }) => {
      if (record.name === 'No') throw new Error('never no');
      return { ...record, amount: 5 };
    }`;
    const query = `mutation Save($code: String!) { saveScript(script: {name: "five", code: $code,
      before: [{collection: "task", operations: [CREATE]}], serviceRoles: ["admin"]}) { name } }`;
    await ask('POST', '/graphql', { query, variables: { code } });
    const quiet = await take('task', '_id,name\nq-1,Yes\nq-2,No\n');
    expect(await run(quiet.id, 'mode=rows')).toMatchObject({
      counts: { created: 2, refused: 0 },
      scripts: { before: [], after: [] },
    });
    const loud = await take('task', '_id,name\nl-1,Yes\nl-2,No\n');
    expect(await run(loud.id, 'mode=rows&triggers=before')).toMatchObject({
      counts: { created: 1, refused: 1 },
      scripts: { before: ['five'], after: [] },
    });
    expect(await records('task', 'name=Yes')).toMatchObject([{ _id: 'l-1', amount: 5 }, { _id: 'q-1' }]);
    await ask('POST', '/graphql', { query: 'mutation { removeScript(name: "five") }' });
  });

  it('tell a dry run what they would refuse and change, and leave nothing behind', async () => {
    const code = `export default async ({ record, operation }) => {
      await platform.db.create('task', { _id: 'trace-' + record._id, name: 'Trace' });
      if (record.name === 'No') throw new Error('never no');
      return operation === 'update' ? { ...record, classes: ['9'] } : record;
    }`;
    const query = `mutation Save($code: String!) { saveScript(script: {name: "picky", code: $code,
      before: [{collection: "holiday", operations: [CREATE, UPDATE]}], serviceRoles: ["admin"]}) { name } }`;
    await ask('POST', '/graphql', { query, variables: { code } });
    const there = await take('holiday', '_id,date,name\nd-1,2031-01-01,Old\nd-4,2031-01-04,Old\n');
    expect(await run(there.id, 'mode=rows')).toMatchObject({ counts: { created: 2 } });
    const file =
      '_id,date,name\nd-1,2031-01-01,New\nd-2,2031-01-02,Yes\nd-3,2031-01-03,No\nd-4,2031-01-04,No\n';
    const { id } = await take('holiday', file);
    const before = await records('holiday', 'name=Old');
    expect(before).toHaveLength(2);
    for (const [triggers, counts, changed, scripts] of [
      ['before', { created: 1, updated: 1, refused: 2 }, { name: 1, classes: 1 }, ['picky']],
      ['after', { created: 2, updated: 2, refused: 0 }, { name: 2 }, []],
    ] as const) {
      await ask('POST', `/imports/${id}/dry-run?mode=rows&triggers=${triggers}`);
      const tried = await rested(id);
      expect(tried).toMatchObject({
        state: 'tried',
        fault: null,
        trial: {
          counts,
          fields: Object.entries(changed).map(([field, count]) => ({ field, records: count })),
        },
        scripts: { before: scripts, after: [] },
      });
    }
    expect(await records('holiday', 'name=Old')).toEqual(before);
    expect(await records('task', 'name=Trace')).toEqual([]);
    await ask('POST', `/imports/${id}/run?mode=atomic&triggers=before`);
    expect(await rested(id)).toMatchObject({ state: 'failed', fault: { code: 'INVALID_VALUE' } });
    expect(await records('task', 'name=Trace')).toEqual([]);
    expect(await run(id, 'mode=rows&triggers=before')).toMatchObject({
      counts: { created: 1, updated: 1, refused: 2 },
    });
    expect(await records('task', 'name=Trace')).toMatchObject([{ _id: 'trace-d-1' }, { _id: 'trace-d-2' }]);
    await ask('POST', '/graphql', { query: 'mutation { removeScript(name: "picky") }' });
  });
});
