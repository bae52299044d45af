/**
 * Nobody who holds a connection waits for a second one of the same pool: with a pool of one connection
 * everything still works. Otherwise as many requests as the pool has connections would wait for each other,
 * and everybody else with them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { Secret, TOTP } from 'otpauth';
import { eventually, eventuallyFound } from '../eventually.js';
import { deriveRows } from './derive-rows.js';
import { PASSWORD, useGateway } from './gateway.js';
import { type Answered, ask } from './graphql.js';

const backups = mkdtempSync(path.join(tmpdir(), 'campus-backups-'));
afterAll(() => rmSync(backups, { recursive: true, force: true }));

const gateway = useGateway({
  POOL_SIZE: '1',
  BACKUP_DIRECTORY: backups,
  LOG_LEVEL: 'error',
  SCRIPT_BEFORE_TIMEOUT_MS: '20000',
  // Long enough to say where it hangs, were it to.
  SMS_PER_HOUR: '1000',
});

const done = new Set<string>();

/** The answer of a mutation, which counts as tried. */
async function mutate(fields: string, variables: object = {}, key?: string): Promise<Answered> {
  for (const [, name] of fields.matchAll(/(?:^|[\s:{])([a-z]\w+)(?=\(|\s*$|\s*\{)/g)) done.add(String(name));
  const declared = Object.keys(variables).map((name) => `$${name}: ${TYPES[name]}`);
  const head = declared.length === 0 ? 'mutation' : `mutation (${declared.join(', ')})`;
  const directive = fields.startsWith('@transaction') ? '@transaction ' : '';
  return await ask(gateway, `${head} ${directive}{ ${fields.replace('@transaction', '')} }`, {
    variables,
    as: 'admin',
    ...(key !== undefined && { headers: { 'idempotency-key': key } }),
  });
}

const TYPES: Readonly<Record<string, string>> = {
  script: 'SaveScriptInput!',
  file: 'CreateFileInput!',
  scopes: 'JSON!',
  definition: 'JSON!',
  token: 'String!',
  password: 'String!',
  id: 'ID!',
  no: 'String!',
  etag: 'String!',
};

async function rest(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await gateway.fetch(path, { as: 'admin', ...init });
  expect([path, response.status < 300 ? 'done' : await response.text()]).toEqual([path, 'done']);
  return response;
}

const json = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

async function saveScript(script: object): Promise<void> {
  await mutate('saveScript(script: $script) { name }', { script });
}

beforeAll(async () => {
  const student = { class: '5', section: 'A', session: '2026-27' };
  const record = (collection: string, id: string, data: object) =>
    gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
      collection,
      id,
      JSON.stringify(data),
    ]);
  await record('registration', 'stu-1', { ...student, sequence: '1', name: 'Anu', status: 'active' });
  await record('fee_due', 'due-1', {
    ...{ ...student, student: { value: 'stu-1', label: 'Anu' }, month: '2026-04', fee_head: 'Tuition' },
    ...{ amount: 1000, due_date: '2026-04-10' },
  });
  await deriveRows(gateway.sql);
});

afterEach(() => {
  expect(gateway.log.filter((line) => /requestFailed|backgroundFault/.test(line))).toEqual([]);
});

describe('with one connection', () => {
  it('records are written by REST, with and without a key', async () => {
    for (const headers of [{}, { 'idempotency-key': 'rest-1' }]) {
      const made = await rest('/o/task', { method: 'POST', ...json({ name: 'A' }, headers) });
      const { _id: id } = (await made.json()) as Answered;
      const path = `/o/recs/task/${id}`;
      await rest(path, { method: 'PATCH', ...json({ name: 'B' }, suffixed(headers, 'a')) });
      await rest(path, { method: 'PUT', ...json({ name: 'C' }, suffixed(headers, 'b')) });
      await rest(path, { method: 'DELETE', headers: suffixed(headers, 'c') });
    }
  });

  it('records are written by GraphQL, one and many, with and without a key', async () => {
    for (const key of [undefined, 'many-1']) {
      const n = key ?? 'plain';
      await mutate(
        `createRecord(collection: "task", data: {_id: "${n}-1", name: "A"}) { id }
         createRecords(collection: "task", data: [{_id: "${n}-2", name: "A"}, {_id: "${n}-3", name: "A"}]) { id }
         updateRecord(collection: "task", id: "${n}-1", data: {name: "B"}) { id }
         updateRecords(collection: "task", where: {name: {equals: "A"}}, set: {amount: 1}) { count }
         upsertRecords(collection: "task", data: [{_id: "${n}-1", amount: 2}, {_id: "${n}-4", name: "D"}]) { count }
         deleteRecord(collection: "task", id: "${n}-1") { id }
         restoreRecord(collection: "task", id: "${n}-1", version: 2) { id }
         deleteRecords(collection: "task", where: {name: {equals: "A"}}) { count }`,
        {},
        key,
      );
      await mutate(
        `createTask(data: {id: "${n}-5", name: "A"}) { id }
         createTasks(records: [{name: "A"}, {name: "A"}]) { count }
         updateTask(id: "${n}-5", data: {name: "B"}) { id }
         updateTasks(where: {name: {equals: "A"}}, increment: {amount: 1}) { count }
         upsertTasks(records: [{id: "${n}-5", name: "E", amount: "2"}, {id: "${n}-6", name: "D"}]) { count }
         upsertTask(data: {id: "${n}-6", name: "D", amount: "2"}) { id }
         deleteTask(id: "${n}-5") { id }
         deleteTasks(where: {name: {equals: "A"}}) { count }`,
        {},
        key === undefined ? undefined : `${key}-typed`,
      );
    }
  });

  it('a request is undone, with and without a key', async () => {
    for (const key of [undefined, 'undo-1']) {
      const requestId = `undone-${key ?? 'plain'}`;
      await rest('/o/task', { method: 'POST', ...json({ name: 'U' }, { 'x-request-id': requestId }) });
      await mutate(`undoChange(requestId: "${requestId}") { removed }`, {}, key);
    }
  });

  it('a transaction writes and reads what its answer shows, with and without a key', async () => {
    for (const key of [undefined, 'transaction-1']) {
      const n = key ?? 'plain';
      const answer = await mutate(
        `@transaction createFeeDue(data: {id: "due-${n}", student: {id: "stu-1"}, class: "5", section: "A", session: "2026-27",
           month: "2026-05", feeHead: "Tuition ${n}", amount: "10", dueDate: "2026-05-10"}) { id student { record { name } } }
         updateTasks(where: {name: {equals: "D"}}, set: {amount: "3"}) { count records(first: 5) { name } }
         recordReceipt(receipt: {studentId: "stu-1", paymentType: CASH, amount: "10"}) { receiptNo }`,
        {},
        key,
      );
      expect(answer.createFeeDue.student.record.name).toBe('Anu');
    }
  });

  it('receipts are recorded and rolled back, with and without a key', async () => {
    for (const key of [undefined, 'receipt-1']) {
      const { recordReceipt } = await mutate(
        'recordReceipt(receipt: {studentId: "stu-1", paymentType: CASH, amount: "10"}) { receiptNo }',
        {},
        key,
      );
      await mutate(
        'rollBackReceipt(rollback: {receiptNo: $no, reason: "wrong", type: ENTRY_ERROR}) { receiptNo }',
        { no: recordReceipt.receiptNo },
        key === undefined ? undefined : `${key}-back`,
      );
    }
  });

  it('students are promoted, with and without a key', async () => {
    const promotion = '{fromSession: "2026-27", classes: [{class: "5", leaves: true}], dryRun: true}';
    for (const key of [undefined, 'promotion-1'])
      await mutate(`promoteStudents(promotion: ${promotion}) { left }`, {}, key);
  });

  it('dues are raised, with and without a key', async () => {
    await ask(
      gateway,
      'mutation { createFeePlan(data: {session: "2026-27", feeHead: "Tuition plain", amount: "9"}) { id } }',
    );
    for (const key of [undefined, 'dues-1'])
      await mutate('raiseDues(month: "2026-05", dryRun: true) { students }', {}, key);
  });

  it('files are kept, read and taken away', async () => {
    const { createFile } = await mutate('createFile(data: $file) { id }', {
      file: { name: 'a.txt', content: Buffer.from('hello').toString('base64') },
    });
    const upload = await rest('/files?name=b.txt', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x'.repeat(600_000),
    });
    const { id } = (await upload.json()) as Answered;
    expect((await (await rest(`/files/${id}`)).text()).length).toBe(600_000);
    await mutate('deleteFile(id: $id) { id }', { id: createFile.id });
  });

  it('files are kept that are sent piece by piece', async () => {
    const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
    const headers = { ...tus, 'upload-length': '600000' };
    const opened = await rest('/files', { method: 'POST', headers, body: 'x'.repeat(300_000) });
    const path = opened.headers.get('location') ?? '';
    const next = { ...tus, 'upload-offset': '300000' };
    await rest(path, { method: 'PATCH', headers: next, body: 'x'.repeat(300_000) });
    expect((await (await rest(path)).text()).length).toBe(600_000);
  });

  it('messages are queued, tried again and discarded', async () => {
    const { createFile } = await mutate('createFile(data: $file) { id }', {
      file: { name: 'a.txt', content: Buffer.from('hello').toString('base64') },
    });
    const { sendEmail } = await mutate(
      'sendEmail(data: {to: ["a@example.org"], subject: "S", text: "T", key: "k", attachments: ' +
        `[{fileId: "${createFile.id}"}]}) { id }`,
    );
    const { sendSms } = await mutate('sendSms(data: {to: ["5123456789", "5123456780"], text: "T"}) { id }');
    await mutate('retryMessage(id: $id) { id }', { id: sendEmail.id });
    await mutate('discardMessage(id: $id) { id }', { id: sendSms[0].id });
  });

  it('a person is exported, and erased', async () => {
    await mutate(
      `createRecord(collection: "registration", data: {_id: "stu-erased", sequence: "ER-1", name: "Erased Soon",
         class: "5", section: "A", session: "2026-27", admitted_on: "2026-04-01"}) { id }`,
    );
    await mutate('exportPerson(collection: "registration", id: "stu-erased") { id }');
    await ask(gateway, '{ personErasure(collection: "registration", id: "stu-erased") { pseudonym } }');
    await mutate('erasePerson(collection: "registration", id: "stu-erased") { pseudonym }');
  });

  it('collections are registered, altered and dropped', async () => {
    const definition = { name: 'visit', singular: 'visit', plural: 'visits', fields: [] };
    await mutate('registerCollection(definition: $definition) { name }', { definition });
    await mutate('alterCollection(definition: $definition, ifVersion: 1) { name }', {
      definition: { ...definition, fields: [{ name: 'on', type: 'datetime', index: true }] },
    });
    await mutate('dropCollection(name: "visit")');
  });

  it('keys and sessions are opened, renewed and ended', async () => {
    const { createApiKey } = await mutate('createApiKey(data: {name: "till", scopes: $scopes}) { id key }', {
      scopes: { collections: { task: ['read'] } },
    });
    await mutate('revokeApiKey(id: $id)', { id: createApiKey.id });
    const { login } = await mutate(
      'login(userName: "viewer", password: $password) { accessToken refreshToken }',
      {
        password: PASSWORD,
      },
    );
    const { refresh } = await mutate('refresh(refreshToken: $token) { accessToken }', {
      token: login.refreshToken,
    });
    const as = { authorization: `Bearer ${refresh.accessToken}` };
    const changed = await gateway.fetch('/graphql', {
      method: 'POST',
      ...json(
        {
          query:
            `mutation { changePassword(oldPassword: "${PASSWORD}", newPassword: "better horse 2") ` +
            'logout }',
        },
        as,
      ),
    });
    expect(((await changed.json()) as Answered).data?.changePassword).toBe(true);
    done.add('changePassword').add('logout');
  });

  it('scripts run, start others and write', async () => {
    await saveScript({ name: 'inner', code: 'export default () => platform.log("inner") ?? 1' });
    await saveScript({
      name: 'outer',
      code: `export default async () => {
        await platform.db.create('task', { name: 'by script' });
        await platform.db.updateMany('task', { name: 'by script' }, { $set: { amount: 1 } });
        return platform.runScript('inner');
      }`,
    });
    const { runScript } = await mutate('runScript(name: "outer") { value error { message } }');
    expect(runScript).toEqual({ value: 1, error: null });
  });

  it('a script asked before a write does all a script can do, in the transaction of the write', async () => {
    const { createFile } = await mutate('createFile(data: $file) { id }', {
      file: { name: 'a.txt', content: Buffer.from('hello').toString('base64') },
    });
    await saveScript({
      name: 'asked',
      before: [{ collection: 'fee_head', operations: ['CREATE', 'UPDATE', 'DELETE'] }],
      code: `export default async ({ record }) => {
        platform.log('asked', { level: 'warn', data: { id: record._id } });
        platform.runScript('inner');
        platform.publish('heads', { id: record._id });
        platform.properties();
        platform.property('none');
        platform.decrypt(platform.encrypt('x'));
        platform.signToken();
        platform.isEduCollection('task');
        platform.sendEmail({ to: 'a@example.org', subject: 'S', text: 'T', attachments: [{ fileId: '${createFile.id}' }] });
        platform.sendSms({ to: '5123456789', text: 'T' });
        await platform.aggregate('task', [{ $count: 'n' }]);
        await platform.db.create('task', { name: 'asked' });
        await platform.db.createMultiple('task', [{ name: 'asked' }, { name: 'asked' }]);
        await platform.db.update('task', { name: 'asked' }, { $set: { amount: 1 } });
        await platform.db.updateMany('task', { name: 'asked' }, { $inc: { amount: 1 } });
        await platform.db.findAndModify('task', { name: 'asked' }, {}, { $set: { amount: 7 } });
        await platform.db.getCount('task', {});
        await platform.db.findDistinct('task', 'name', {});
        await platform.db.listCollections();
        for await (const task of platform.db.findStream('task', {})) task.name;
        for await (const task of platform.db.agg('task', [{ $match: { name: 'asked' } }])) task.name;
        for await (const text of platform.db.readFile('${createFile.id}', 'text')) text.length;
      }`,
    });
    await mutate(`createFeeHead(data: {id: "head-1", name: "One"}) { id }`);
    await mutate(`createFeeHead(data: {id: "head-2", name: "Two"}) { id }`, {}, 'asked-1');
    await mutate(
      '@transaction updateFeeHead(id: "head-1", data: {name: "Three"}) { id } deleteFeeHead(id: ' +
        '"head-2") { id }',
    );
    await mutate('updateFeeHeads(where: {id: {equals: "head-1"}}, set: {name: "Four"}) { count }');
    await mutate(
      'upsertFeeHeads(records: [{id: "head-1", name: "Five"}, {id: "head-3", name: "Six"}]) { count }',
    );
    const { scriptRuns, scriptLog } = await ask(
      gateway,
      '{ scriptRuns(script: "asked") { status error { message } } scriptLog(script: "asked") { message } }',
    );
    expect(scriptRuns).toEqual(Array(7).fill({ status: 'SUCCEEDED', error: null }));
    expect(scriptLog).toHaveLength(7);
    await mutate('removeScript(name: "asked")');
  });

  it('users are looked after', async () => {
    await mutate('setLanguage(language: "hi")');
    await mutate('setDomainProperty(name: "passPercent", value: 40) { name }');
    await mutate('removeDomainProperty(name: "passPercent") { name }');
    await mutate('createBranch(data: {id: "hills", name: "Hill branch", timeZone: "Asia/Dubai"}) { id }');
    const { inviteUser } = await mutate(
      'inviteUser(data: {userName: "new", name: "New", roles: ["clerk"]}) { userId link }',
    );
    const { sendAccountLink } = await mutate('sendAccountLink(userId: $id) { link }', {
      id: inviteUser.userId,
    });
    const token = sendAccountLink.link.split('#')[1];
    await mutate('useAccountLink(token: $token, password: $password)', { token, password: PASSWORD });
    await mutate('setUserRoles(userId: $id, roles: ["viewer"]) { id }', { id: inviteUser.userId });
    await mutate('setUserActive(userId: $id, isActive: true) { id }', { id: inviteUser.userId });
    await mutate('unlockUser(userId: $id) { id }', { id: inviteUser.userId });
    const { login } = await mutate(`login(userName: "clerk", password: "${PASSWORD}") { accessToken }`);
    expect(login.accessToken).not.toBe('');
    const { sessions } = await ask(gateway, '{ sessions(userId: "usr-clerk") { id } }');
    await mutate('endSession(id: $id)', { id: sessions[0].id });
    await mutate('endSessions(userId: $id)', { id: 'usr-clerk' });
    const { createApiKey } = await mutate('createApiKey(data: {name: "k", scopes: $scopes}) { id }', {
      scopes: { collections: {}, reports: [], scripts: [] },
    });
    await mutate('rotateApiKey(id: $id) { id }', { id: createApiKey.id });
  });

  it('a second factor is switched on and off', async () => {
    const { beginSecondFactor } = await mutate('beginSecondFactor { secret }');
    const totp = new TOTP({ secret: Secret.fromBase32(beginSecondFactor.secret) });
    const token = totp.generate({ timestamp: Date.now() - 30_000 });
    const { confirmSecondFactor } = await mutate('confirmSecondFactor(code: $token)', { token });
    const { renewRecoveryCodes } = await mutate('renewRecoveryCodes(code: $token)', {
      token: confirmSecondFactor[0],
    });
    await mutate('removeSecondFactor(code: $token)', { token: renewRecoveryCodes[0] });
    await mutate('resetSecondFactor(userId: $id)', { id: 'usr-clerk' });
  });

  it('webhooks are looked after', async () => {
    const { createWebhook } = await mutate(
      'createWebhook(data: {name: "w", url: "https://hook.invalid/", events: [{collection: "task", ' +
        'operations: ["deleted"]}]}) { webhook { id etag } }',
    );
    const { id, etag } = createWebhook.webhook;
    await mutate('updateWebhook(id: $id, data: {isPaused: true}, ifMatch: $etag) { id }', { id, etag });
    await mutate('rotateWebhookSecret(id: $id)', { id });
    const { testWebhook } = await mutate('testWebhook(id: $id) { id }', { id });
    await mutate('replayWebhookDelivery(id: $id) { id }', { id: testWebhook.id });
    await mutate('replayWebhookDeliveries(id: $id)', { id: createWebhook.webhook.id });
    await mutate('removeWebhook(id: $id)', { id });
  });

  it('imports are made and run', async () => {
    const { createFile } = await mutate('createFile(data: $file) { id }', {
      file: { name: 'tasks.csv', content: Buffer.from('name,amount\nImported,7\n').toString('base64') },
    });
    const { createImport } = await mutate(
      `createImport(collection: "task", fileId: "${createFile.id}") { id }`,
    );
    const { id } = createImport;
    const mapping = await restsAs(id, 'READY');
    await ask(
      gateway,
      'mutation ($id: ID!, $mapping: JSON) { changeImport(id: $id, mapping: $mapping) { id } }',
      {
        variables: { id, mapping },
        as: 'admin',
      },
    );
    done.add('changeImport');
    await mutate('tryImport(id: $id) { id }', { id });
    await restsAs(id, 'TRIED');
    await mutate('runImport(id: $id) { id }', { id });
    await restsAs(id, 'DONE');
    const written = await gateway.sql.query(
      `select 1 from records where collection = 'task' and data->>'name' = 'Imported'`,
    );
    expect(written.rows).toHaveLength(1);
    await mutate('undoImport(id: $id) { id }', { id });
    await restsAs(id, 'UNDONE');
    const other = await mutate(`createImport(collection: "task", fileId: "${createFile.id}") { id }`);
    await restsAs(other.createImport.id, 'READY');
    await mutate('cancelImport(id: $id) { id }', { id: other.createImport.id });
    await restsAs(other.createImport.id, 'CANCELLED');
  });

  it('backups are made and verified', async () => {
    const found = async (isVerified: boolean) => {
      const { health } = await ask(gateway, '{ health { backups { name verifiedAt fault } } }', {
        as: 'admin',
      });
      return health.backups.find((one: Answered) => (one.verifiedAt !== null) === isVerified);
    };
    await mutate('makeBackup');
    const { name } = await eventuallyFound<Answered>(() => found(false));
    await mutate(`verifyBackup(name: "${name}")`);
    expect(await eventuallyFound<Answered>(() => found(true))).toMatchObject({ name, fault: null });
  });

  it('was tried with every mutation there is, of one collection for all', () => {
    const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'), { assumeValid: true });
    const names = Object.keys(schema.getMutationType()?.getFields() ?? {});
    const own = names.slice(0, names.indexOf('createAttendanceRecord'));
    const ofTasks = names.filter((name) => /Tasks?$/.test(name));
    // It is for a database without a school: test/contract/first-run.test.ts.
    const others = new Set(['makeSchool']);
    expect([...own, ...ofTasks].filter((name) => !done.has(name) && !others.has(name))).toEqual([]);
  });
});

/** Waits until an import rests, which has to be in the state named; its mapping. */
async function restsAs(id: string, state: string): Promise<unknown> {
  const query = 'query ($id: ID!) { import(id: $id) { state mapping fault } }';
  let found: Answered = {};
  await eventually(async () => {
    found = (await ask(gateway, query, { variables: { id }, as: 'admin' })).import;
    return !['RECEIVED', 'INSPECTING', 'TRYING', 'WAITING', 'RUNNING', 'UNDOING'].includes(found.state);
  });
  expect([found.state, found.fault]).toEqual([state, null]);
  return found.mapping;
}

function suffixed(
  headers: Readonly<Record<string, string>>,
  suffix: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}-${suffix}`]));
}
