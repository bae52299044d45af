/** A key that ignores case names one record, on every door, also for records from before the rule. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createGatewayDatabase, startGateway, useGateway } from './gateway.js';
import { ask, send } from './graphql.js';
import { importSteps, studentRow, studentSheet } from './import-steps.js';

const gateway = useGateway();

const STUDENT = {
  ...{ name: 'Asha', class: '5', section: 'A', session: '2026-27', gender: 'female' },
  ...{ admitted_on: '2026-04-01', status: 'active' },
};
const TYPED = 'name: "Asha", class: "5", section: "A", session: "2026-27", admittedOn: "2026-04-01"';
/** Spellings of GV-01001, and of nothing else. */
const SPELLINGS = ['gv-01001', 'GV-01001 ', '\u00A0Gv-01001', '\u200BgV-01001\u200E'];

async function rest(method: string, path: string, body: unknown): Promise<number> {
  const response = await gateway.fetch(path, {
    ...{ method, as: 'admin', body: JSON.stringify(body) },
    headers: { 'content-type': 'application/json' },
  });
  await response.body?.cancel();
  return response.status;
}

async function codes(query: string, variables: unknown): Promise<string> {
  const { errors } = await send(gateway, { as: 'admin', query, variables });
  return errors.map(({ extensions }) => extensions.code).join();
}

const sequences = async (): Promise<readonly string[]> => {
  const { rows } = await gateway.sql.query<{ sequence: string }>(
    `select data->>'sequence' as sequence from records
     where collection = 'registration' and deleted_at is null order by 1`,
  );
  return rows.map(({ sequence }) => sequence);
};

beforeEach(async () => {
  await gateway.sql.query(
    `delete from records where collection in ('registration', 'fee_due', 'fee_receipt')`,
  );
  expect(await rest('POST', '/o/registration', { ...STUDENT, _id: 's-1', sequence: 'GV-01001' })).toBe(201);
  expect(await rest('POST', '/o/registration', { ...STUDENT, _id: 's-2', sequence: 'GV-01002' })).toBe(201);
});

/** By door, what a write answers that would give another record the key. */
const REFUSING: Readonly<Record<string, (sequence: string) => Promise<number | string>>> = {
  'REST, one': (sequence) => rest('POST', '/o/registration', { ...STUDENT, sequence }),
  'REST, a list': (sequence) => rest('POST', '/o/registration', [{ ...STUDENT, sequence }]),
  'REST, a change': (sequence) => rest('PATCH', '/o/recs/registration/s-2', { sequence }),
  'REST, a replacement': (sequence) => rest('PUT', '/o/recs/registration/s-2', { ...STUDENT, sequence }),
  'GraphQL, typed': (s) =>
    codes(`mutation($s: String!) { createRegistration(data: {sequence: $s, ${TYPED}}) { id } }`, { s }),
  'GraphQL, typed, many': (s) =>
    codes(`mutation($s: String!) { createRegistrations(records: [{sequence: $s, ${TYPED}}]) { count } }`, {
      s,
    }),
  'GraphQL, typed, a change': (s) =>
    codes('mutation($s: String!) { updateRegistration(id: "s-2", data: {sequence: $s}) { id } }', { s }),
  'GraphQL, typed, a change of many': (s) =>
    codes(
      `mutation($s: String!) {
        updateRegistrations(where: {id: {equals: "s-2"}}, set: {sequence: $s}) { count }
      }`,
      { s },
    ),
  'GraphQL, generic': (sequence) =>
    codes('mutation($d: JSON!) { createRecord(collection: "registration", data: $d) { id } }', {
      d: { ...STUDENT, sequence },
    }),
  'GraphQL, generic, many': (sequence) =>
    codes('mutation($d: [JSON!]!) { createRecords(collection: "registration", data: $d) { id } }', {
      d: [{ ...STUDENT, sequence }],
    }),
  'GraphQL, an upsert by another key': (sequence) =>
    codes('mutation($d: [JSON!]!) { upsertRecords(collection: "registration", data: $d) { count } }', {
      d: [{ ...STUDENT, _id: 's-3', sequence }],
    }),
  'an import by another key': async (sequence) => {
    const { take, run } = importSteps(gateway);
    const { id } = await take('registration', `_id,sequence\ns-2,${sequence}\n`, '&by=_id');
    const { counts } = await run(id, 'mode=rows');
    return counts.refused === 1 ? 'CONFLICT' : 'taken';
  },
  'a script': async (sequence) => {
    const code = `export default (data) => platform.db.create('registration', data)`;
    await ask(gateway, 'mutation($s: SaveScriptInput!) { saveScript(script: $s) { name } }', {
      variables: { s: { name: 'enrol', code } },
    });
    const { runScript } = await ask(
      gateway,
      'mutation($a: JSON) { runScript(name: "enrol", arguments: $a) { error { code } } }',
      { variables: { a: { ...STUDENT, sequence } } },
    );
    return runScript.error?.code ?? 'taken';
  },
  'the restore of a removed record': async (sequence) => {
    const response = await gateway.fetch('/o/recs/registration/s-1', { method: 'DELETE', as: 'admin' });
    await response.body?.cancel();
    expect(await rest('PATCH', '/o/recs/registration/s-2', { sequence })).toBe(200);
    const restore = 'mutation { restoreRecord(collection: "registration", id: "s-1", version: 1) { id } }';
    const undo = 'mutation($r: String!) { undoChange(requestId: $r) { changed } }';
    const code = await codes(undo, { r: response.headers.get('x-request-id') });
    expect(await codes(restore, {})).toBe(code);
    // As it was, for the assertion that follows.
    expect(await rest('PATCH', '/o/recs/registration/s-2', { sequence: 'GV-01002' })).toBe(200);
    expect(await codes(restore, {})).toBe('');
    return code;
  },
};

/** By door, a write by the key, which is about the record that has it. */
const FINDING: Readonly<Record<string, (sequence: string) => Promise<unknown>>> = {
  'GraphQL, typed': (s) =>
    ask(
      gateway,
      `mutation($s: String!) {
        upsertRegistrations(by: SEQUENCE, records: [
          {sequence: $s, ${TYPED.replace('Asha', 'Meera')}}
        ]) { count created }
      }`,
      { variables: { s } },
    ),
  'GraphQL, generic': (sequence) =>
    ask(
      gateway,
      `mutation($d: [JSON!]!) {
        upsertRecords(collection: "registration", by: "sequence", data: $d) { count }
      }`,
      { variables: { d: [{ ...STUDENT, name: 'Meera', sequence }] } },
    ),
  'an import': async (sequence) => {
    const { take, run } = importSteps(gateway);
    const csv = studentSheet(studentRow(sequence, { name: 'Meera' }));
    const { id } = await take('registration', csv, '&by=sequence');
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ created: 0, updated: 1, refused: 0 });
  },
};

describe('an admission number in another spelling', () => {
  it.each(Object.keys(REFUSING))('makes no second student: %s', async (door) => {
    for (const spelling of SPELLINGS) {
      expect([spelling, await REFUSING[door]?.(spelling)]).toEqual([
        spelling,
        door.startsWith('REST') ? 409 : 'CONFLICT',
      ]);
    }
    expect(await sequences()).toEqual(['GV-01001', 'GV-01002']);
  });

  it.each(Object.keys(FINDING))('names the student who has it: %s', async (door) => {
    for (const spelling of SPELLINGS) {
      expect(await rest('PATCH', '/o/recs/registration/s-1', { name: 'Asha' })).toBe(200);
      await FINDING[door]?.(spelling);
      const response = await gateway.fetch('/o/recs/registration/s-1', { as: 'admin' });
      // Its own spelling stays.
      expect(await response.json()).toMatchObject({ name: 'Meera', sequence: 'GV-01001' });
    }
    expect(await sequences()).toEqual(['GV-01001', 'GV-01002']);
  });

  it('is refused twice in one body and in one file, by its row', async () => {
    const twice = ['GV-7', 'gv-7 '].map((sequence) => ({ ...STUDENT, sequence }));
    expect(await rest('POST', '/o/registration', twice)).toBe(409);
    const { take, run } = importSteps(gateway);
    const { id } = await take('registration', studentSheet(studentRow('GV-7'), studentRow('gv-7 ')));
    expect((await run(id, 'mode=rows')).counts).toMatchObject({ created: 1, refused: 1 });
  });

  it('can be corrected by an ordinary change', async () => {
    expect(await rest('PATCH', '/o/recs/registration/s-1', { sequence: 'gv-01001' })).toBe(200);
    expect(await sequences()).toEqual(['GV-01002', 'gv-01001']);
  });

  it('finds the student in reports', async () => {
    const response = await gateway.fetch('/reports/student?admission_no=gv-01001', { as: 'admin' });
    expect(await response.json()).toMatchObject({ rows: [{ admissionNo: 'GV-01001' }] });
  });
});

describe('the series of receipts', () => {
  it('is one, whatever its case, and keeps its spelling', async () => {
    const due = { student: 's-1', class: '5', section: 'A', session: '2026-27', month: '2026-04' };
    expect(
      await rest('POST', '/o/fee_due', {
        ...{ ...due, fee_head: 'Tuition', amount: 100, due_date: '2026-04-10' },
      }),
    ).toBe(201);
    const pay = async (series: string) =>
      (
        await ask(
          gateway,
          `mutation($s: String!) {
            recordReceipt(receipt: {studentId: "s-1", paymentType: CASH, amount: "1", series: $s}) {
              receiptNo
            }
          }`,
          { variables: { s: series } },
        )
      ).recordReceipt.receiptNo;
    expect(await pay('Rx-')).toBe('Rx-1');
    expect(await pay('rx-')).toBe('Rx-2');
    expect(await pay('RX-')).toBe('Rx-3');
    const why = 'receiptNo: "RX-2", reason: "x", type: BOUNCE';
    const rolledBack = await ask(gateway, `mutation { rollBackReceipt(rollback: {${why}}) { receiptNo } }`);
    expect(rolledBack.rollBackReceipt.receiptNo).toBe('Rx-2');
  });
});

describe('a user name in another spelling', () => {
  it('logs the user in', async () => {
    // The users of the tests are inserted past the gateway, and get their keys when they are written.
    for (const name of ['teachers', 'teacher'])
      expect(await rest('PATCH', '/o/recs/pltf_user/usr-teacher', { user_name: name })).toBe(200);
    for (const name of ['Teacher', 'teacher ', '\u200BTEACHER']) {
      const query = `user_name=${encodeURIComponent(name)}&password=correct%20horse`;
      const response = await gateway.fetch(`/auth?${query}`, { method: 'POST' });
      expect([name, response.status, await response.json()]).toEqual([
        name,
        200,
        expect.objectContaining({ user: expect.objectContaining({ user_name: 'teacher' }) }),
      ]);
    }
  });

  it('makes no second user', async () => {
    expect(
      await rest('POST', '/o/pltf_user', { user_name: 'TEACHER', name: 'T', active: true, roles: [] }),
    ).toBe(409);
  });
});

describe('records from before the rule', () => {
  it('get their keys at the next start; a collision blocks nothing', async () => {
    const database = await createGatewayDatabase();
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    await sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'registration', 's-' || n, $1::jsonb || jsonb_build_object('sequence', 'N-' || n)
       from generate_series(0, 1499) as n
       union all
       select 'top', 'registration', 't-1', $1::jsonb || '{"sequence": "n-700 "}'`,
      [JSON.stringify(STUDENT)],
    );
    // As an earlier version declared it.
    await sql.query(
      `update collections set definition = jsonb_set(definition, '{fields}', (
         select jsonb_agg(field - 'unique') from jsonb_array_elements(definition->'fields') as field
       )) where name = 'registration'`,
    );
    await sql.end();
    const second = await startGateway(database.url, { LOG_LEVEL: 'info' });
    const post = async (sequence: string) => {
      const response = await second.fetch('/o/registration', {
        ...{ method: 'POST', as: 'admin', body: JSON.stringify({ ...STUDENT, sequence }) },
        headers: { 'content-type': 'application/json' },
      });
      await response.body?.cancel();
      return response.status;
    };
    try {
      expect(await post('n-3')).toBe(409);
      expect(await post('n-1499')).toBe(409);
      const { rows } = await second.sql.query(
        `select count(*)::int as without, min(id) as id from records
         where collection = 'registration' and not coalesce(keys ? 'sequence', false)`,
      );
      expect(rows).toEqual([{ without: 1, id: 't-1' }]);
      const change = await second.fetch('/o/recs/registration/t-1', {
        ...{ method: 'PATCH', as: 'admin', body: '{"name":"Mira"}' },
        headers: { 'content-type': 'application/json' },
      });
      expect(change.status).toBe(200);
    } finally {
      await second.close();
      await database.drop();
    }
  });
});
