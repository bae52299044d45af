/** Every example script does on the demo school what its comment says. */

import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventuallyFound } from '../eventually.js';
import { DEMO_TODAY, useDemoGateway } from './demo-gateway.js';
import { readExampleScripts } from './example-scripts.js';
import type { Role } from './gateway.js';
import { type Answered, ask } from './graphql.js';

const BANK_PORT = 39_517;
const gateway = useDemoGateway(
  { students: 60 },
  {
    SCRIPT_REQUEST_PRIVATE_HOSTS: `127.0.0.1:${BANK_PORT}`,
    SCRIPT_REQUEST_PORTS: `443,${BANK_PORT}`,
    // Six admissions at once wait for each other, which takes longer on a busy machine.
    SCRIPT_BEFORE_TIMEOUT_MS: '20000',
  },
);
const scripts = readExampleScripts();
const read: string[] = [];

/**
 * Saves an example with its settings, or with others, so that one test is not disturbed by the triggers of
 * another.
 */
async function save(name: string): Promise<void> {
  const example = scripts.find((script) => script.name === name);
  if (!example) throw new Error(`there is no example ${name}`);
  read.push(name);
  const { code, settings } = example;
  const upper = (triggers: Answered) =>
    triggers?.map(({ collection, operations }: Answered) => ({
      collection,
      operations: operations.map((operation: string) => operation.toUpperCase()),
    }));
  const { before, after, endpoint, ...others } = settings as Answered;
  const script = {
    name,
    code,
    ...others,
    before: upper(before),
    after: upper(after),
    endpoint: endpoint && { ...endpoint, access: endpoint.access.toUpperCase() },
  };
  await ask(gateway, `mutation S($script: SaveScriptInput!) { saveScript(script: $script) { version } }`, {
    variables: { script },
  });
}

async function remove(name: string): Promise<void> {
  await ask(gateway, `mutation R($name: ID!) { removeScript(name: $name) }`, { variables: { name } });
}

async function run(name: string, args?: unknown, as: Role = 'admin'): Promise<Answered> {
  const { runScript } = await ask(
    gateway,
    `mutation R($name: ID!, $args: JSON) {
      runScript(name: $name, arguments: $args) { status value error { message line } }
    }`,
    { variables: { name, args }, as },
  );
  expect({ error: runScript.error }).toEqual({ error: null });
  return runScript.value;
}

/** What a script that a job started gave back. */
async function resultOf(
  script: string,
  isWanted: (value: Answered) => boolean = () => true,
): Promise<Answered> {
  const done: Answered = await eventuallyFound(async () => {
    const { scriptRuns } = await ask(
      gateway,
      `query R($script: ID) { scriptRuns(script: $script) { status value error { message } } }`,
      { variables: { script } },
    );
    return scriptRuns.find((one: Answered) => one.status !== 'RUNNING' && isWanted(one.value));
  });
  expect(done.error).toBeNull();
  return done.value;
}

const rest = async (path: string, method = 'GET', body?: unknown, as: Role | undefined = 'admin') =>
  await gateway.fetch(path, {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
    as,
  });

async function list(collection: string, oquery: string): Promise<readonly Answered[]> {
  const response = await rest(`/o/recs/${collection}?stream=true&oquery=${encodeURIComponent(oquery)}`);
  return (await response.json()) as Answered[];
}

async function create(collection: string, record: unknown): Promise<Answered> {
  const response = await rest(`/o/${collection}`, 'POST', record);
  const created = (await response.json()) as Answered;
  expect({ status: response.status, detail: created.detail }).toEqual({ status: 201, detail: undefined });
  return created;
}

const student = (more: object) => ({
  name: 'Meera Iyer',
  class: '5',
  section: 'A',
  session: '2026-27',
  admitted_on: '2026-11-20',
  guardian_phone: '+919812345678',
  ...more,
});

it('there are at least twelve, and each is tried below', () => {
  expect(scripts.length).toBeGreaterThanOrEqual(12);
  const test = readFileSync('test/contract/example-scripts.test.ts', 'utf8');
  for (const { name } of scripts) expect([name, test.includes(`save('${name}')`)]).toEqual([name, true]);
});

it('the manual lists each with its title', () => {
  const manual = readFileSync('docs/scripts.md', 'utf8');
  for (const { name, title } of scripts) {
    expect([name, manual.includes(`[${title}](../schema/scripts/${name}.js)`)]).toEqual([name, true]);
  }
});

it('fee-reminder writes to the guardians of those who paid nothing for a month, once a day', async () => {
  await save('fee-reminder');
  const { sent } = await run('fee-reminder');
  expect(sent).toBeGreaterThan(0);
  const messages = await list('sms_log', 'category=fee,text=*are due. Please pay');
  const [first] = messages;
  expect(messages).toHaveLength(sent);
  expect(first.text).toMatch(/^Fees of .+ \(GV-\d+\) for 20\d\d-\d\d/);
  const id = first.recipient.value;
  const months = /for ([\d, -]+) are due/.exec(first.text)?.[1]?.split(', ') ?? [];
  const receipts = await list('fee_receipt', `student.value=${id},status=active`);
  const paid = receipts.flatMap((receipt) => receipt.lines.map((line: Answered) => line.month));
  expect(months.filter((month) => paid.includes(month))).toEqual([]);
  await run('fee-reminder');
  expect(await list('sms_log', 'category=fee,text=*are due. Please pay')).toHaveLength(sent);
});

it('absence-alert writes to the guardian of a student who is marked absent', async () => {
  await save('absence-alert');
  const child = await create('registration', student({ sequence: 'X-1' }));
  const mark = (status: string, created: string) =>
    create('attendance', {
      student: { value: child._id },
      class: '5',
      section: 'A',
      status,
      created,
    });
  await mark('present', '2026-11-19T04:00:00.000Z');
  await mark('absent', '2026-11-20T04:00:00.000Z');
  expect(await resultOf('absence-alert', (value) => value?.sent === 1)).toEqual({ sent: 1 });
  const messages = await list('sms_log', `recipient.value=${child._id}`);
  expect(messages).toHaveLength(1);
  expect(messages[0]).toMatchObject({ category: 'absence', to: '+919812345678' });
  await remove('absence-alert');
});

it('admission-number gives numbers without gaps to students admitted at once', async () => {
  await ask(
    gateway,
    `mutation C($definition: JSON!) { registerCollection(definition: $definition) { name } }`,
    {
      variables: { definition: { name: 'counter', fields: [{ name: 'last', type: 'number' }] } },
    },
  );
  await create('counter', { _id: 'admission', last: 70000 });
  await save('admission-number');
  const admitted = await Promise.all(
    Array.from({ length: 6 }, (_, index) => create('registration', student({ name: `New ${index}` }))),
  );
  expect(admitted.map(({ sequence }) => sequence).toSorted()).toEqual(
    [1, 2, 3, 4, 5, 6].map((number) => `GV-7000${number}`),
  );
  await remove('admission-number');
});

it('phone-format writes numbers in one form and refuses what is none', async () => {
  await save('phone-format');
  const child = await create('registration', student({ sequence: 'X-2', guardian_phone: '098123 45678' }));
  expect(child.guardian_phone).toBe('+919812345678');
  const refused = await rest(`/o/recs/registration/${child._id}`, 'PATCH', { guardian_phone: '12' });
  expect(refused.status).toBe(422);
  expect(((await refused.json()) as Answered).detail).toContain('ten digits are expected');
  await remove('phone-format');
});

it('keep-students-with-fees refuses to remove a student with receipts, and no other', async () => {
  await save('keep-students-with-fees');
  const [receipt] = await list('fee_receipt', 'status=active');
  const refused = await rest(`/o/recs/registration/${receipt.student.value}`, 'DELETE');
  expect(refused.status).toBe(422);
  expect(((await refused.json()) as Answered).detail).toMatch(/has \d+ receipts/);
  const child = await create('registration', student({ sequence: 'X-3' }));
  expect((await rest(`/o/recs/registration/${child._id}`, 'DELETE')).status).toBeLessThan(300);
  await remove('keep-students-with-fees');
});

describe('bank-payments', () => {
  let bank: Server;
  const asked: { readonly url: string | undefined; readonly token: string | undefined }[] = [];
  beforeAll(async () => {
    bank = createServer((request, response) => {
      asked.push({ url: request.url, token: request.headers.authorization });
      response.setHeader('content-type', 'application/json');
      const payments = [
        { utr: 'U1', reference: 'X-4', amount: 1200.5 },
        { utr: 'U2', reference: 'nobody', amount: 10 },
      ];
      response.end(JSON.stringify({ payments }));
    });
    await new Promise<void>((resolve) => bank.listen(BANK_PORT, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => bank.close(resolve));
  });

  it('makes a task of each payment, once however often it runs', async () => {
    await create('registration', student({ sequence: 'X-4' }));
    await ask(gateway, `mutation S($script: SaveScriptInput!) { saveScript(script: $script) { version } }`, {
      variables: { script: { name: 'encrypt', code: 'export default (text) => platform.encrypt(text)' } },
    });
    const token = await run('encrypt', 'bank-secret');
    await gateway.setProperty('bankApi', `http://127.0.0.1:${BANK_PORT}`);
    await gateway.setProperty('bankToken', token);
    await save('bank-payments');
    expect(await run('bank-payments', { since: '2026-11-01' })).toEqual({ made: ['U1', 'U2'] });
    expect(await run('bank-payments', { since: '2026-11-01' })).toEqual({ made: [] });
    expect(asked[0]).toEqual({ url: '/payments?since=2026-11-01', token: 'Bearer bank-secret' });
    const tasks = await list('task', 'name=*bank payment U1');
    expect(tasks).toEqual([expect.objectContaining({ _id: 'bank-U1', amount: 1200.5 })]);
  });
});

describe('payment-callback', () => {
  const report = async (body: string, signature: string) =>
    await gateway.fetch('/x/payment-callback', {
      method: 'POST',
      as: undefined,
      headers: { 'content-type': 'application/json', 'x-razorpay-signature': signature },
      body,
    });
  // From the tests of the provider's own library, with the secret 123456.
  const recorded = {
    body: '{"a":1,"b":2,"c":{"d":3}}',
    signature: '2fe04e22977002e6c7cb553adab8b460cb9e2a4970d5953cb27a8472752e3bbc',
  };

  it('trusts what the provider signed, to the byte, and makes a task of each payment once', async () => {
    await ask(gateway, `mutation S($script: SaveScriptInput!) { saveScript(script: $script) { version } }`, {
      variables: { script: { name: 'encrypt', code: 'export default (text) => platform.encrypt(text)' } },
    });
    await gateway.setProperty('razorpaySecret', await run('encrypt', '123456'));
    await save('payment-callback');
    const known = await report(recorded.body, recorded.signature);
    expect([known.status, await known.json()]).toEqual([200, { noted: false }]);
    expect((await report(`${recorded.body} `, recorded.signature)).status).toBe(401);
    expect((await report(recorded.body, '')).status).toBe(401);
    const body = JSON.stringify({
      event: 'payment.captured',
      payload: { payment: { entity: { id: 'P1', amount: 120050, notes: { sequence: 'GV-1' } } } },
    });
    const signature = createHmac('sha256', '123456').update(body).digest('hex');
    for (let times = 0; times < 2; times++) expect((await report(body, signature)).status).toBe(200);
    const tasks = await list('task', '_id=pay-P1');
    expect(tasks).toEqual([expect.objectContaining({ name: 'Receipt for GV-1: P1', amount: 1200.5 })]);
  });
});

it('leave-marks marks the days of a leave that is approved, Sundays apart', async () => {
  await save('leave-marks');
  const child = await create('registration', student({ sequence: 'X-5' }));
  const request = await create('leave_request', {
    name: { value: child._id },
    kind: 'student',
    from: '2026-12-04',
    to: '2026-12-07',
    reason: 'Wedding',
  });
  // A run sees the record as it is by then: one that began late would share the days with the next one.
  expect(await resultOf('leave-marks')).toEqual({ marked: 0 });
  await rest(`/o/recs/leave_request/${request._id}`, 'PATCH', { status: 'approved' });
  expect(await resultOf('leave-marks', (value) => value?.marked > 0)).toEqual({ marked: 3 });
  const marks = await list('attendance', `student.value=${child._id}`);
  expect(marks.map(({ created, status }) => [created.slice(0, 10), status]).toSorted()).toEqual([
    ['2026-12-04', 'leave'],
    ['2026-12-05', 'leave'],
    ['2026-12-07', 'leave'],
  ]);
  await remove('leave-marks');
});

it('birthday-greetings greets those whose birthday it is', async () => {
  await save('birthday-greetings');
  await create('registration', student({ sequence: 'X-6', name: 'Asha Leap', dob: '2016-02-29' }));
  const { greeted } = await run('birthday-greetings', { monthAndDay: '02-29' });
  expect(greeted).toContain('Asha Leap');
  expect(await list('sms_log', 'category=other,text=*Asha Leap')).toHaveLength(1);
});

it('absentees answers with CSV, a teacher the sections taught alone', async () => {
  await save('absentees');
  const day = (await list('attendance', 'status=absent'))
    .map(({ created }) => created.slice(0, 10))
    .toSorted()[0];
  const answer = await gateway.fetch(`/x/absentees?day=${day}`, { as: 'clerk' });
  expect(answer.headers.get('content-type')).toContain('text/csv');
  const lines = (await answer.text()).trim().split('\r\n');
  expect(lines[0]).toBe('class,section,student');
  expect(lines.length).toBeGreaterThan(1);
  const own = (await (await gateway.fetch(`/x/absentees?day=${day}`, { as: 'teacher' })).text())
    .trim()
    .split('\r\n');
  expect(own.length).toBeLessThanOrEqual(lines.length);
  expect((await gateway.fetch('/x/absentees?day=yesterday', { as: 'clerk' })).status).toBe(400);
  expect((await gateway.fetch(`/x/absentees?day=${day}`)).status).toBe(401);
});

it('admission-enquiry makes a task of what anybody sends', async () => {
  await save('admission-enquiry');
  const body = { name: 'Ravi', phone: '98', class: '1' };
  const sent = await rest('/x/admission-enquiry', 'POST', body, undefined);
  expect(sent.status).toBe(201);
  const { reference } = (await sent.json()) as Answered;
  expect(await list('task', `_id=${reference}`)).toHaveLength(1);
  expect((await rest('/x/admission-enquiry', 'POST', { name: 'Ravi' }, undefined)).status).toBe(400);
});

it('bus-late writes to the families of a route', async () => {
  await save('bus-late');
  const rider = (await list('registration', 'status=active')).find(({ route }) => route !== undefined);
  await ask(gateway, `mutation S($script: SaveScriptInput!) { saveScript(script: $script) { version } }`, {
    variables: {
      script: { name: 'late', code: `export default (args) => platform.publish('bus/late', args)` },
    },
  });
  await run('late', { route: rider.route, minutes: 20 });
  const { told } = await resultOf('bus-late');
  expect(told).toBeGreaterThan(0);
  expect(await list('sms_log', 'text=*is about 20 minutes late')).toHaveLength(told);
});

it('result-summary gives each class its average, the best first', async () => {
  await save('result-summary');
  const summary = await run('result-summary', { session: '2026-27', term: 'halfyear' }, 'teacher');
  expect(summary.length).toBeGreaterThan(0);
  for (const row of summary) {
    expect(row).toEqual({
      class: expect.any(String),
      students: expect.any(Number),
      percent: expect.any(Number),
    });
    expect(row.percent).toBeGreaterThan(0);
    expect(row.percent).toBeLessThanOrEqual(100);
  }
  expect(summary).toEqual(summary.toSorted((a: Answered, b: Answered) => b.percent - a.percent));
});

it('collection-mail writes to the accountants what was collected last month', async () => {
  await save('collection-mail');
  const { month, total, to } = await run('collection-mail', { scheduledFor: `${DEMO_TODAY}T01:30:00.000Z` });
  expect(month).toBe('2026-10');
  const receipts = await list('fee_receipt', 'date=>2026-09-30,date=<2026-11-01,status=active');
  const expected = receipts.reduce((sum, receipt) => sum + Math.round(receipt.total * 100), 0);
  expect(Math.round(total * 100)).toBe(expected);
  expect(to.length).toBeGreaterThan(0);
});
