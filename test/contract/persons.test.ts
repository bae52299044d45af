/** All that is kept of a person, exported and erased, on the demo school. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strFromU8, unzipSync } from 'fflate';
import pg from 'pg';
import { operatorScope } from '../../src/cli/command-line.js';
import { DEMO_DOMAIN } from '../../src/school/demo/demo-options.js';
import { SEARCHED_TABLES, UNSEARCHED_TABLES } from '../../src/services/persons/searched-tables.js';
import { listDanglingReferences } from '../../src/store/reading/dangling-references.js';
import { eventually } from '../eventually.js';
import { useDemoGateway } from './demo-gateway.js';
import type { Role } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

let sql: pg.Client;
// It ends before the database does.
afterAll(async () => {
  await sql?.end();
});
const gateway = useDemoGateway({ students: 60 });

const NAME = 'Zebunnisa Qurratulain';
const PHONE = '+916234509871';
const EMAIL = 'zebunnisa.q@example.org';
const ADMISSION_NO = 'ZQ/2026-7781';
const FATHER = 'Nizamuddin Qurratulain';
/** Any of these in a table is a byte of the person. */
const TOLD = [NAME, '6234509871', EMAIL, ADMISSION_NO, FATHER, '12, Peacock Lane', '2016-02-29'];
const STUDENT = 'stu-zebunnisa';

beforeAll(async () => {
  sql = new pg.Client({ connectionString: gateway.databaseUrl });
  await sql.connect();
});

async function rest(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await gateway.fetch(path, {
    method,
    as: 'admin',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { text, requestId: response.headers.get('x-request-id') ?? '' };
}

/** Every table with what is in it, as text. */
async function dump(): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql.query<{ name: string }>(`
    select format('%I.%I', schemaname, tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`);
  const texts = new Map<string, string>();
  for (const { name } of rows) {
    const { rows: lines } = await sql.query<{ line: string }>(`select t::text as line from ${name} t`);
    texts.set(name, lines.map(({ line }) => line).join('\n'));
  }
  return texts;
}

async function placesOf(texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [table, text] of await dump()) {
    const lower = text.toLowerCase();
    for (const told of texts) if (lower.includes(told.toLowerCase())) found.push(`${told} in ${table}`);
  }
  return found;
}

async function untilImport(id: string, state: string): Promise<void> {
  await eventually(async () => {
    const { text } = await rest('GET', `/imports/${id}`);
    return text.includes(`"state":"${state}"`);
  });
}

async function importFile(parameters: string, csv: string): Promise<{ readonly id: string }> {
  const type = { 'content-type': 'text/csv' };
  const { text } = await rest('POST', `/imports?collection=${parameters}`, csv, type);
  const taken = JSON.parse(text) as { readonly id: string };
  await untilImport(taken.id, 'ready');
  return taken;
}

/** A student with something of everything, who shares the mother and a telephone with a sibling. */
async function enrol(): Promise<void> {
  const place = { class: '5', section: 'A', session: '2026-27' };
  const student = { value: STUDENT };
  await rest('POST', '/o/registration', {
    ...{ _id: STUDENT, sequence: ADMISSION_NO, name: 'Zebunisa Qurratulain', ...place, status: 'active' },
    ...{ father_name: FATHER, mother_name: 'Shared Mother', guardian_phone: PHONE, email: EMAIL },
    ...{ address: '12, Peacock Lane', dob: '2016-02-29', admitted_on: '2026-04-01', gender: 'female' },
    earlier_stays: [{ ...place, session: '2025-26', roll_no: 17, from: '2025-04-01', to: '2026-03-31' }],
  });
  // The name is corrected: the wrong one is in the history, and in the labels of what was written before.
  await rest('POST', '/o/leave_request', {
    ...{ name: student, kind: 'student', from: '2026-11-18', to: '2026-11-19', leave_type: 'sick' },
    reason: 'Fever of Zebunisa Qurratulain',
  });
  await rest('PATCH', `/o/recs/registration/${STUDENT}`, { name: NAME }, { 'idempotency-key': 'correct-ZQ' });
  await rest('POST', '/o/registration', {
    ...{ _id: 'stu-sibling', sequence: 'SIB-1', name: 'Ordinary Sibling', ...place, status: 'active' },
    ...{ mother_name: 'Shared Mother', admitted_on: '2026-04-01', gender: 'male' },
  });
  await rest('POST', '/o/fee_due', {
    ...{ student, ...place, month: '2026-11', fee_head: 'Tuition', amount: 1500, due_date: '2026-11-10' },
  });
  await rest('POST', '/o/fee_concession', {
    ...{ name: student, fee_head: 'Tuition', kind: 'amount', value: 100, session: '2026-27' },
    ...{ from_month: '2026-11', to_month: '2026-11', type: 'sibling', reason: `Hardship of ${FATHER}` },
  });
  await rest('POST', '/o/attendance', {
    ...{ student, class: '5', section: 'A', status: 'absent', created: '2026-11-19T04:00:00Z' },
    remark: `${NAME} is ill`,
  });
  await rest('POST', '/o/result', {
    ...{
      student,
      admission_no: ADMISSION_NO,
      session: '2026-27',
      term: 'halfyear',
      class: '5',
      section: 'A',
    },
    subjects: [
      { subject: 'English', components: [{ name: 'Written', max: 80, weight: 1, state: 'not_entered' }] },
    ],
  });
  await rest('POST', '/o/task', { _id: 'task-zq', name: `Call ${NAME} at ${PHONE}`, amount: 3 });
  await rest('PATCH', '/o/recs/task/task-zq', { name: `Call the father of ${NAME} (${ADMISSION_NO})` });
  await rest('POST', '/o/task', {
    _id: `task-${STUDENT}`,
    name: 'Her file',
    about: { number: ADMISSION_NO },
  });
  await ask(
    gateway,
    `mutation { recordReceipt(receipt: {studentId: "${STUDENT}", paymentType: CASH, lines: [
      {feeHead: "Tuition", month: "2026-11", amount: "1000.00"}]}) { receiptNo } }`,
  );
  await ask(
    gateway,
    `mutation {
      sendSms(data: {to: ["${PHONE}"], text: "${NAME} is absent", category: "absence"}) { id }
      sendEmail(data: {to: ["${EMAIL}"], subject: "Of ${NAME}", text: "x",
        key: "mail ${ADMISSION_NO}"}) { id }
      toAll: sendEmail(data: {to: ["other@example.org", "${EMAIL}"], subject: "To all", text: "x"}) { id }
    }`,
  );
  const code = `platform.log('of ' + args.name, {data: {phone: args.phone}});
    export default () => ({seen: args.number});`;
  await ask(
    gateway,
    `mutation { saveScript(script: {name: "seen", code: ${JSON.stringify(code)}}) { name } }`,
  );
  const sent = { name: NAME, phone: PHONE, number: ADMISSION_NO };
  const run =
    'mutation($sent: JSON) { runScript(name: "seen", arguments: $sent) { value error { message } } }';
  const { runScript } = await ask(gateway, run, { as: 'admin', variables: { sent } });
  expect(runScript).toEqual({ value: { seen: ADMISSION_NO }, error: null });
  await sql.query(
    `with hook as (
       insert into webhooks (id, domain_id, user_id, name, url, events, secret, is_paused, created_by)
       values (gen_random_uuid(), 'demo', 'usr-admin', 'hook', 'https://example.org', '[]', 'x', true, 'usr-admin')
       returning id
     )
     insert into webhook_deliveries (webhook_id, state, event, body)
     select id, 'delivered', '{"recordId": "x"}', $1 from hook`,
    [JSON.stringify({ record: { name: NAME, address: '12, Peacock Lane' } })],
  );
  await importFile(`task&name=${encodeURIComponent(`calls to ${NAME}.csv`)}`, 'name\nCall');
  const others = Array.from({ length: 6 }, (_, index) => `stu-0000${index + 1},general\n`).join('');
  const { id } = await importFile(
    'registration&name=wrote.csv&by=_id',
    `_id,category\n${others}${STUDENT},sc\n`,
  );
  await rest('POST', `/imports/${id}/run?mode=rows`);
  await untilImport(id, 'done');
  await importFile('registration&name=nobody.csv&by=_id', '_id,category\nstu-00001,general\n');
  // What is found in a column shows no more than its first values.
  const calls = Array.from({ length: 40 }, (_, index) => `Call ${index}`);
  await importFile('task&name=calls.csv', ['name', ...calls, `Call ${NAME} back`].join('\n'));
  const documents = [
    ...calls.map((name) => ({ name, note: { about: [name] } })),
    { name: 'Call', note: { about: [NAME] } },
  ];
  await importFile('task&name=calls.ndjson', documents.map((one) => JSON.stringify(one)).join('\n'));
  await importFile(
    'task&name=damaged.ndjson',
    [...calls.map((name) => `{"name":"${name}"}`), '{"na'].join('\n'),
  );
  await rest('POST', `/files?collection=registration&recordId=${STUDENT}&name=birth.txt`, NAME, {
    'content-type': 'text/plain',
  });
  await rest('POST', `/files?name=${encodeURIComponent(`photo of ${NAME}.txt`)}`, 'x', {
    'content-type': 'text/plain',
  });
}

const ERASURE = '{ pseudonym shared entries { fate place count ids fields because } }';

function erase(id: string, collection = 'registration', as: Role = 'admin') {
  const query = `mutation($c: String!, $id: ID!) { erasePerson(collection: $c, id: $id) ${ERASURE} }`;
  return send(gateway, { query, variables: { c: collection, id }, as });
}

async function reportsOfFees(): Promise<Answered> {
  return await ask(
    gateway,
    `{ feeSummary(type: MONTH, session: "2026-27") { totals { demand concession net collectedFor outstanding
         studentsBilled } }
       dailyFeeCollection(from: "2026-11-01", to: "2026-12-31", paymentType: ALL) { totals { total } }
       strength(session: "2026-27") { totals { strength } } }`,
  );
}

describe('the tables', () => {
  it('are all decided upon', async () => {
    const { rows } = await sql.query<{ name: string }>(
      `select c.relname as name from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
    );
    const known = [...SEARCHED_TABLES.map(({ table }) => table), ...UNSEARCHED_TABLES.keys()];
    expect(rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('a person is refused', () => {
  it.each([
    ['to who is no admin', 'registration', 'stu-00001', 'clerk', 403],
    ['where it is none', 'registration', 'stu-none', 'admin', 404],
    ['where the collection is none', 'registrations', 'stu-00001', 'admin', 404],
    ['where its records are no persons', 'task', 'task-1', 'admin', 400],
  ] as const)('%s', async (_what, collection, id, as, status) => {
    const { errors } = await erase(id, collection, as);
    expect(errors.map((error) => error.extensions.status)).toEqual([status]);
    const query = `query { personErasure(collection: "${collection}", id: "${id}") { pseudonym } }`;
    const planned = await send(gateway, { query, as });
    expect(planned.errors.map((error) => error.extensions.status)).toEqual([status]);
    const exported = await send(gateway, {
      query: `mutation { exportPerson(collection: "${collection}", id: "${id}") { id } }`,
      as,
    });
    expect(exported.errors.map((error) => error.extensions.status)).toEqual([status]);
  });
});

describe('a student', () => {
  let erased: Answered;
  let planned: Answered;
  let requestId = '';
  let before: Answered;

  beforeAll(async () => {
    await enrol();
    ({ requestId } = await rest('PATCH', `/o/recs/registration/${STUDENT}`, { route: 'R9' }));
  });

  it('is exported with all that is of it, and nothing of others', async () => {
    const { exportPerson } = await ask(
      gateway,
      `mutation { exportPerson(collection: "registration", id: "${STUDENT}") { id name url } }`,
    );
    const response = await gateway.fetch(exportPerson.url, { as: 'admin' });
    const archive = unzipSync(new Uint8Array(await response.arrayBuffer()));
    const files = Object.fromEntries(
      Object.entries(archive).map(([path, bytes]) => [path, strFromU8(bytes)]),
    );
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining([
        ...['index.html', 'index.json', 'messages.ndjson', 'mentions.ndjson'],
        ...[
          'registration',
          'attendance',
          'fee_due',
          'fee_receipt',
          'fee_concession',
          'result',
          'leave_request',
        ].map((name) => `records/${name}.ndjson`),
        ...['history/registration.ndjson', 'history/attendance.ndjson'],
      ]),
    );
    expect(Object.entries(files).find(([path]) => path.endsWith('birth.txt'))?.[1]).toBe(NAME);
    expect(files['index.html']).toContain(NAME);
    expect(files['history/registration.ndjson']).toContain('Zebunisa Qurratulain');
    expect(files['mentions.ndjson']).toContain('task-zq');
    expect(Object.values(files).join('\n')).not.toContain('Ordinary Sibling');
    const { status } = await gateway.fetch(exportPerson.url, { as: 'clerk' });
    expect(status).toBe(404);
    const { auditTrail } = await ask(
      gateway,
      `{ auditTrail(collection: "registration", recordId: "${STUDENT}", first: 1) { operation principal } }`,
    );
    expect(auditTrail[0].operation).toBe('exported');
    const { recordHistory } = await ask(
      gateway,
      `{ recordHistory(collection: "registration", id: "${STUDENT}") { nodes { version operation } } }`,
    );
    expect(recordHistory.nodes.map((node: Answered) => node.version)).toEqual([4, 3, 2, 1]);
  });

  it('is listed as it would be erased, and nothing is changed', async () => {
    const all = await dump();
    const { personErasure } = await ask(
      gateway,
      `{ personErasure(collection: "registration", id: "${STUDENT}") ${ERASURE} }`,
    );
    planned = personErasure;
    const now = await dump();
    for (const table of ['public.erasures', 'public.audit_entries', 'public.messages', 'public.files']) {
      expect(now.get(table)).toBe(all.get(table));
    }
    expect(planned.shared).toEqual(['Shared Mother']);
    const told = planned.entries.map(({ fate, place, count }: Answered) => [fate, place, count]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['removed', 'attendance', 1],
        ['removed', 'result', 1],
        ['removed', 'leave_request', 1],
        ['kept', 'fee_receipt', 1],
        ['kept', 'fee_due', 1],
        ['kept', 'fee_concession', 1],
        ['kept', 'registration', 1],
        ['replaced', 'task', 2],
        ['removed', 'messages', 2],
        ['replaced', 'messages', 1],
        ['removed', 'files of registration', 1],
        ['removed', 'archives of the person', 1],
        ['removed', 'files of imports', 5],
        ['replaced', 'names of files', 1],
        ['replaced', 'runs of scripts', 1],
        ['replaced', 'log of scripts', 1],
        ['replaced', 'imports', 1],
        ['replaced', 'deliveries of webhooks', 1],
      ]),
    );
  });

  it('is erased as it was listed', async () => {
    before = await reportsOfFees();
    expect(await placesOf([NAME])).not.toEqual([]);
    const { data, errors } = await erase(STUDENT);
    expect(errors).toEqual([]);
    erased = data.erasePerson;
    const figures = ({ entries }: Answered) =>
      entries.map(({ fate, place, count }: Answered) => [fate, place, count]);
    expect(figures(erased)).toEqual(figures(planned));
  });

  it('is in no file that an import has kept', async () => {
    const { rows } = await sql.query(
      `select i.name, f.id is not null as is_there
       from imports i
       left join files f on f.id = i.file_id
       order by 1`,
    );
    expect(rows).toEqual([
      { name: expect.stringMatching(/^calls to (?!Zebunnisa)/), is_there: false },
      { name: 'calls.csv', is_there: false },
      { name: 'calls.ndjson', is_there: false },
      { name: 'damaged.ndjson', is_there: false },
      { name: 'nobody.csv', is_there: true },
      { name: 'wrote.csv', is_there: false },
    ]);
  });

  it('is in no table any more', async () => {
    expect(await placesOf([...TOLD, 'Zebunisa', STUDENT])).toEqual([]);
  });

  it('leaves reports that add up, and its receipts', async () => {
    expect(await reportsOfFees()).toEqual(before);
    const { rows } = await sql.query(
      `select data->'student' as student, data->>'total' as total from records
       where collection = 'fee_receipt' and data->'student'->>'value' = $1`,
      [erased.pseudonym],
    );
    expect(rows).toEqual([
      { student: { value: erased.pseudonym, label: 'Erased person' }, total: '1000.00' },
    ]);
    const { rows: months } = await sql.query(
      `select sum(due)::int as due, sum(paid)::int as paid from fee_months where student = $1`,
      [erased.pseudonym],
    );
    expect(months).toEqual([{ due: 1500, paid: 1000 }]);
  });

  it('leaves a place in the roll without a person', async () => {
    const { text } = await rest('GET', `/o/recs/registration/${erased.pseudonym}`);
    const shell = JSON.parse(text);
    expect(shell).toMatchObject({ name: 'Erased person', class: '5', section: 'A', status: 'active' });
    for (const field of [
      'dob',
      'address',
      'email',
      'guardian_phone',
      'father_name',
      'mother_name',
      'route',
    ]) {
      expect(shell).not.toHaveProperty(field);
    }
    expect(shell.earlier_stays).toEqual([
      { class: '5', section: 'A', session: '2025-26', from: '2025-04-01', to: '2026-03-31' },
    ]);
  });

  it('leaves others as they were', async () => {
    const { text } = await rest('GET', '/o/recs/registration/stu-sibling');
    expect(JSON.parse(text)).toMatchObject({ name: 'Ordinary Sibling', mother_name: 'Shared Mother' });
    const { text: task } = await rest('GET', '/o/recs/task/task-zq');
    expect(JSON.parse(task).name).toBe(`Call the father of ${erased.pseudonym} (${erased.pseudonym})`);
    const { text: past } = await rest('GET', '/o/recs/task/task-zq/history');
    expect(JSON.parse(past).map(({ version }: Answered) => version)).toEqual([3, 2, 1]);
    expect(JSON.parse(past)[1].changes[0].before).toBe(`Call ${erased.pseudonym} at ${erased.pseudonym}`);
  });

  it('is brought back by nothing', async () => {
    const tried = [
      `mutation { undoChange(requestId: "${requestId}") { changed } }`,
      `mutation { restoreRecord(collection: "registration", id: "${STUDENT}", version: 1) { id } }`,
      `mutation { restoreRecord(collection: "registration", id: "${erased.pseudonym}", version: 1) { id } }`,
      `{ recordAt(collection: "registration", id: "${STUDENT}", version: 1) { id } }`,
      `{ recordAt(collection: "registration", id: "${erased.pseudonym}", version: 2) { id } }`,
    ];
    for (const query of tried) {
      const { errors } = await send(gateway, { query, as: 'admin' });
      expect({ query, codes: errors.map((error) => error.extensions.code) }).toEqual({
        query,
        codes: [expect.stringMatching(/NOT_FOUND|GONE|CONFLICT/)],
      });
    }
    const again = gateway.fetch(`/o/recs/registration/${STUDENT}`, {
      method: 'PATCH',
      as: 'admin',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'correct-ZQ' },
      body: JSON.stringify({ name: NAME }),
    });
    expect((await again).status).toBeGreaterThanOrEqual(404);
    expect((await erase(STUDENT)).errors[0]?.extensions.code).toBe('NOT_FOUND');
    expect(await placesOf([...TOLD])).toEqual([]);
  });

  it('is in the audit trail as erased, without a name', async () => {
    const { auditTrail } = await ask(
      gateway,
      `{ auditTrail(collection: "registration", recordId: "${erased.pseudonym}", first: 1) {
           operation principal toVersion } }`,
    );
    expect(auditTrail[0]).toMatchObject({ operation: 'erased', toVersion: 0 });
  });
});

/** How many statements wait for an advisory lock in the database of the gateway. */
async function countWaiting(): Promise<number> {
  const { rows } = await sql.query<{ waiting: number }>(`
    select count(*)::int as waiting
    from pg_locks
    where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`);
  return rows[0]?.waiting ?? 0;
}

describe('a member of the staff', () => {
  const USER = 'usr-clerk-zq';
  const SECRET = 'a long enough password';

  beforeAll(async () => {
    await rest('POST', '/o/pltf_user', {
      ...{ _id: USER, user_name: 'qamar.zq', name: 'Qamaruzzaman Zq', phone: '+916234500001', active: true },
      ...{ roles: ['clerk'], employee_code: 'E-ZQ-1' },
    });
    const { services } = gateway;
    await services.users.setPassword(operatorScope(services, undefined), {
      userName: 'qamar.zq',
      password: SECRET,
    });
  });

  async function signIn(): Promise<Response> {
    const body = JSON.stringify({ user_name: 'qamar.zq', password: SECRET });
    return await gateway.fetch('/auth', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  }

  it('is signed out, and what it did stays without its name', async () => {
    const { access_token: token } = (await (await signIn()).json()) as { access_token: string };
    const own = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const made = await gateway.fetch('/o/task', {
      method: 'POST',
      headers: own,
      body: JSON.stringify({ _id: 'task-of-clerk', name: 'Lend', amount: 1, manager: USER }),
    });
    expect(made.status).toBe(201);
    const { text } = await rest('GET', '/o/recs/class?limit=1');
    const [first] = JSON.parse(text);
    const sections = [{ ...first.sections[0], class_teacher: { value: USER } }, ...first.sections.slice(1)];
    await rest('PATCH', `/o/recs/class/${first._id}`, { sections });

    const { data, errors } = await erase(USER, 'pltf_user');
    expect(errors).toEqual([]);
    const { pseudonym, entries } = data.erasePerson;
    expect(entries.map(({ fate, place }: Answered) => `${fate} ${place}`)).toEqual(
      expect.arrayContaining([
        'removed sessions',
        'removed passwords',
        'removed pltf_user',
        'replaced class',
      ]),
    );
    expect(await placesOf([USER, 'Qamaruzzaman', 'qamar.zq', '6234500001', 'E-ZQ-1'])).toEqual([]);
    expect((await gateway.fetch('/o/recs/task', { headers: own })).status).toBe(401);
    expect((await signIn()).status).toBe(401);
    const { text: task } = await rest('GET', '/o/recs/task/task-of-clerk');
    expect(JSON.parse(task).manager).toEqual({ value: pseudonym, label: 'Erased person' });
    const { auditTrail } = await ask(
      gateway,
      '{ auditTrail(collection: "task", recordId: "task-of-clerk") { principal operation } }',
    );
    expect(auditTrail.at(-1)).toEqual({ principal: pseudonym, operation: 'created' });
    // A reference to somebody who was erased is not one that was lost.
    const found = await listDanglingReferences(gateway.services, DEMO_DOMAIN);
    expect(found.flatMap(({ examples }) => examples)).not.toContain('task-of-clerk');
  });

  it('that is named as a role leaves the role to others', async () => {
    await rest('POST', '/o/pltf_user', {
      ...{
        _id: 'usr-named',
        user_name: 'examiner',
        name: 'Named As A Role',
        active: true,
        roles: ['examiner'],
      },
    });
    await rest('POST', '/o/pltf_user', {
      ...{ _id: 'usr-other', user_name: 'other.one', name: 'Other One', active: true, roles: ['examiner'] },
    });
    const { data, errors } = await erase('usr-named', 'pltf_user');
    expect(errors).toEqual([]);
    expect(data.erasePerson.shared).toEqual(['examiner']);
    const { text } = await rest('GET', '/o/recs/pltf_user/usr-other');
    expect(JSON.parse(text).roles).toEqual(['examiner']);
  });

  it('is not told by changes that are on their way', async () => {
    const named = { user_name: 'on.the.way', name: 'On The Way', active: true, roles: ['clerk'] };
    await rest('POST', '/o/pltf_user', { _id: 'usr-on-the-way', ...named });
    // A gateway that has read a page of changes, and not yet put it where subscribers are told.
    await sql.query('begin');
    await sql.query('select pg_advisory_xact_lock($1)', [0x6f757462]);
    let isErased = false;
    const erased = erase('usr-on-the-way', 'pltf_user').finally(() => {
      isErased = true;
    });
    await eventually(async () => isErased || (await countWaiting()) > 0);
    await sql.query(
      `insert into told_changes
        (entry_id, at, domain, collection, record_id, operation, to_version, principal)
       values (-1, now(), $1, 'task', 'task-on-the-way', 'updated', 2, 'usr-on-the-way')`,
      [DEMO_DOMAIN],
    );
    await sql.query('commit');
    const { data, errors } = await erased;
    expect(errors).toEqual([]);
    const told = await sql.query(`select principal from told_changes where record_id = 'task-on-the-way'`);
    expect(told.rows).toEqual([{ principal: data.erasePerson.pseudonym }]);
  });

  it('is not erased who asks', async () => {
    const { errors } = await erase('usr-admin', 'pltf_user');
    expect(errors[0]).toMatchObject({ message: expect.stringMatching(/own user/) });
    expect(errors[0]?.extensions.status).toBe(409);
  });

  it('is not erased whose scripts are still there', async () => {
    await sql.query(`update scripts set owner = 'usr-teacher' where name = 'seen'`);
    const { errors } = await erase('usr-teacher', 'pltf_user');
    expect(errors[0]).toMatchObject({ message: expect.stringMatching(/scripts of this user.*seen/) });
    expect(errors[0]?.extensions.status).toBe(409);
  });
});

describe('an erasure that a fault ends', () => {
  it('is gone on with where it stood', async () => {
    await rest('POST', '/o/registration', {
      ...{ _id: 'stu-twice', sequence: 'TW-7781', name: 'Twicely Interrupted', class: '5', section: 'A' },
      ...{ session: '2026-27', admitted_on: '2026-04-01', guardian_phone: '+916234500002' },
    });
    await ask(gateway, 'mutation { sendSms(data: {to: ["+916234500002"], text: "x"}) { id } }');
    await sql.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger refuse before delete on messages for each row execute function refuse();`);
    expect((await erase('stu-twice')).errors[0]?.extensions.status).toBe(500);
    const half = await sql.query('select pseudonym, steps_done from erasures where ended_at is null');
    expect(half.rows).toEqual([{ pseudonym: expect.stringMatching(/^erased-/), steps_done: 2 }]);
    await sql.query('drop trigger refuse on messages; drop function refuse');

    const { data, errors } = await erase('stu-twice');
    expect(errors).toEqual([]);
    expect(data.erasePerson.pseudonym).toBe(half.rows[0].pseudonym);
    expect(data.erasePerson.entries.map(({ place }: Answered) => place)).toEqual(
      expect.arrayContaining(['registration', 'messages']),
    );
    expect(await placesOf(['stu-twice', 'TW-7781', 'Twicely', '6234500002'])).toEqual([]);
  });
});
