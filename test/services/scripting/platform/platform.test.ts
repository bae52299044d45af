import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../../../src/base/json/json.js';
import type { TopicMessage } from '../../../../src/services/messaging/topics.js';
import { ROLES } from '../../../contract/gateway.js';
import { usePlatform } from './platform.js';

const test = usePlatform();

beforeAll(async () => {
  const { domains } = test.services;
  const admin = await test.scopeOf('admin');
  await domains.create(admin, { id: 'east', name: 'East branch' });
  const east = await test.scopeOf('admin', 'east');
  await domains.setProperty(admin, { name: 'schoolName', value: 'Gyan Vidya' });
  await domains.setProperty(admin, { name: 'bankKey', value: 'very-secret', isSecret: true });
  await domains.setProperty(admin, { name: 'weeklyOffs', value: ['SU'] });
  await domains.setProperty(east, { name: 'schoolName', value: 'Gyan Vidya East' });
});

async function refusal(as: Parameters<typeof test.run>[0], code: string) {
  return (await test.run(as, code)).error;
}

describe('platform.domains and platform.isTopDomain', () => {
  const TOP = { id: 'top', name: 'Top', timeZone: 'Asia/Kolkata', isTop: true };
  const EAST = { id: 'east', name: 'East branch', timeZone: 'Asia/Kolkata', isTop: false };

  it('tell an admin of the top domain of all domains', async () => {
    expect(await test.value('admin', 'export default platform.domains();')).toEqual([TOP, EAST]);
  });

  it('tell others of their own', async () => {
    expect(await test.value('teacher', 'export default platform.domains();')).toEqual([TOP]);
  });

  it('know the top domain, and the own one by default', async () => {
    const code =
      'export default [platform.isTopDomain(), platform.isTopDomain("top"), ' +
      'platform.isTopDomain("east"), platform.isTopDomain("none")];';
    expect(await test.value('viewer', code)).toEqual([true, true, false, false]);
    expect(await test.value(await test.scopeOf('admin', 'east'), code)).toEqual([false, true, false, false]);
  });

  it('refuse what is no name', async () => {
    expect(await refusal('admin', 'platform.isTopDomain(1);')).toMatchObject({
      code: 'INVALID_VALUE',
      errors: [{ parameter: 'domain', sent: 1 }],
    });
    expect((await refusal('admin', 'platform.domains(1);'))?.message).toBe(
      'platform.domains() takes 0 arguments, not 1',
    );
  });
});

describe('platform.property and platform.properties', () => {
  it('give the properties in force, those of the top domain where there is none, secrets masked', async () => {
    const code =
      'export default [platform.property("schoolName"), platform.property("weeklyOffs"), ' +
      'platform.property("bankKey"), platform.property("none")];';
    expect(await test.value('admin', code)).toEqual(['Gyan Vidya', ['SU'], '********', null]);
    expect(await test.value(await test.scopeOf('admin', 'east'), code)).toEqual([
      'Gyan Vidya East',
      ['SU'],
      '********',
      null,
    ]);
  });

  it('give all of them', async () => {
    expect(await test.value('admin', 'export default platform.properties();')).toEqual({
      bankKey: '********',
      schoolName: 'Gyan Vidya',
      weeklyOffs: ['SU'],
    });
  });

  it.each(ROLES.filter((role) => role !== 'admin'))('are refused to %s, as everywhere', async (role) => {
    expect(await refusal(role, 'platform.property("schoolName");')).toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusal(role, 'platform.properties();')).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('platform.encrypt and platform.decrypt', () => {
  it('give a text back', async () => {
    const code = 'const e = platform.encrypt("कुंजी 🔑"); export default [e, platform.decrypt(e)];';
    expect(await test.value('clerk', code)).toEqual([
      expect.stringMatching(/^cge1\.[\w-]{8}\.[\w-]+$/),
      'कुंजी 🔑',
    ]);
  });

  it('keep a text to its domain', async () => {
    const encrypted = await test.value('admin', 'export default platform.encrypt("of the top");');
    const error = (
      await test.run(await test.scopeOf('admin', 'east'), 'platform.decrypt(args);', {
        arguments: encrypted ?? null,
      })
    ).error;
    expect(error).toMatchObject({
      code: 'INVALID_VALUE',
      message: 'The text cannot be decrypted: the encrypted text was changed, or belongs to another domain.',
    });
  });

  it('refuse what is no text', async () => {
    expect(await refusal('admin', 'platform.encrypt({});')).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await refusal('admin', 'platform.encrypt();')).toMatchObject({
      code: 'INVALID_VALUE',
      message: 'platform.encrypt(text): text: is missing',
    });
    expect(await refusal('admin', 'platform.decrypt("hello");')).toMatchObject({ code: 'INVALID_VALUE' });
  });
});

describe('platform.publish', () => {
  const heard: TopicMessage[] = [];
  let stop: () => void = () => {};
  beforeAll(async () => {
    const following = test.services.topics.follow('top', 'notices', (message) => heard.push(message));
    stop = following.stop;
    await following.ready;
  });
  afterAll(() => stop());

  it('reaches who listens to the topic, in the domain of the script', async () => {
    await test.value(await test.scopeOf('admin', 'east'), 'platform.publish("notices", "not for the top");');
    await test.value('clerk', 'platform.publish("notices", { text: "closed tomorrow" });');
    for (let tries = 0; heard.length === 0 && tries < 50; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard).toMatchObject([
      { topic: 'notices', message: { text: 'closed tomorrow' }, publisher: 'usr-clerk' },
    ]);
  });

  it('refuses what is no topic, and a message that is not there', async () => {
    expect(await refusal('clerk', 'platform.publish("a b", 1);')).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await refusal('clerk', 'platform.publish("a");')).toMatchObject({
      code: 'INVALID_VALUE',
      message: 'platform.publish(topic, message): message: is missing',
    });
  });
});

describe('platform.log', () => {
  const list = async (role: (typeof ROLES)[number], query = {}) =>
    (await test.services.scriptLog.list(await test.scopeOf(role), { limit: 10, ...query })).map(
      ({ script, level, message, data, principal }) => ({ script, level, message, data, principal }),
    );

  it('keeps lines with level and data, which their own user and admins read', async () => {
    await test.value(
      'clerk',
      'platform.log("sent"); platform.log("3 failed", { level: "warn", data: { ids: [1, 2, 3] } });',
    );
    await test.value('teacher', 'platform.log("mine", { level: "debug" });');
    const failed = {
      script: 'test.js',
      level: 'warn',
      message: '3 failed',
      data: { ids: [1, 2, 3] },
      principal: 'usr-clerk',
    };
    const sent = {
      script: 'test.js',
      level: 'info',
      message: 'sent',
      data: undefined,
      principal: 'usr-clerk',
    };
    const mine = {
      script: 'test.js',
      level: 'debug',
      message: 'mine',
      data: undefined,
      principal: 'usr-teacher',
    };
    expect(await list('clerk')).toEqual([failed, sent]);
    expect(await list('teacher')).toEqual([mine]);
    expect(await list('admin')).toEqual([mine, failed, sent]);
    expect(await list('admin', { level: 'warn' })).toEqual([failed]);
    expect(await list('admin', { script: 'other.js' })).toEqual([]);
  });

  it('keeps lines of the run, and before an entry', async () => {
    const id = '01890a5d-ac96-774b-bcce-b302099a8057';
    await test.run('clerk', 'for (const n of [1, 2, 3]) platform.log("line " + n);', { id });
    expect((await list('admin', { runId: id })).map(({ message }) => message)).toEqual([
      'line 3',
      'line 2',
      'line 1',
    ]);
    const [last] = await test.services.scriptLog.list(await test.scopeOf('admin'), { runId: id, limit: 1 });
    expect((await list('admin', { runId: id, before: last?.id })).map(({ message }) => message)).toEqual([
      'line 2',
      'line 1',
    ]);
  });

  it('keeps what Postgres cannot hold as what can be read', async () => {
    await test.value('clerk', 'platform.log("a\\0b\\ud800c", { data: { "k\\0": "v\\ud800" } });');
    expect(await list('clerk', { limit: 1 })).toMatchObject([
      { message: 'a\u{fffd}b\u{fffd}c', data: { 'k\u{fffd}': 'v\u{fffd}' } },
    ]);
  });

  it('is not seen in another domain', async () => {
    expect(await test.services.scriptLog.list(await test.scopeOf('admin', 'east'), { limit: 10 })).toEqual(
      [],
    );
  });

  it('refuses a level that is none, and a line without measure', async () => {
    expect(await refusal('clerk', 'platform.log("x", { level: "loud" });')).toMatchObject({
      code: 'INVALID_VALUE',
      errors: [{ parameter: 'options.level' }],
    });
    expect(await refusal('clerk', 'platform.log("x".repeat(10001));')).toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
  });

  it('is purged by age', async () => {
    const { scriptLog, database } = test.services;
    await test.gateway.sql.query(
      `update script_log set at = now() - interval '100 days' where level = 'debug'`,
    );
    expect(await scriptLog.purge(database, new Date(Date.now() - 90 * 86_400_000))).toBe(1);
  });
});

describe('platform.isEduCollection', () => {
  it('holds for the declared collections of the school', async () => {
    await test.services.catalog.register(await test.scopeOf('admin'), { name: 'club', fields: [] });
    const code =
      'export default ["registration", "fee_receipt", "club", "none"].map((name) => ' +
      'platform.isEduCollection(name));';
    expect(await test.value('viewer', code)).toEqual([true, true, false, false]);
  });
});

describe('platform.runScript', () => {
  beforeAll(async () => {
    const admin = await test.scopeOf('admin');
    const save = async (name: string, code: string) =>
      await test.services.scripts.save(admin, { name, code, isEnabled: true, roles: [...ROLES] });
    await save('double', 'export default (n) => n * 2;');
    await save('fails', 'function pay() {\n  throw new Error("no fee");\n}\npay();');
    await save('refused', 'platform.properties();');
    await save('deeper', 'export default (n) => platform.runScript("deeper", n + 1);');
  });

  it('gives what the other script gives', async () => {
    expect(await test.value('clerk', 'export default platform.runScript("double", 21);')).toBe(42);
  });

  it('throws what the other script throws, with its place', async () => {
    expect(await refusal('clerk', '\nplatform.runScript("fails");')).toMatchObject({
      name: 'ServiceError',
      message: 'no fee (fails:2:18)',
      line: 2,
      script: 'test.js',
    });
  });

  it('throws the refusal the other script met, for it acts as the same user', async () => {
    expect(await refusal('clerk', 'platform.runScript("refused");')).toMatchObject({
      code: 'FORBIDDEN',
      status: 403,
    });
  });

  it('ends where scripts are nested too deeply', async () => {
    expect(await refusal('clerk', 'platform.runScript("deeper", 1);')).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('SCRIPT_DEPTH'),
    });
  });

  it('knows no script that is not there', async () => {
    expect(await refusal('clerk', 'platform.runScript("none");')).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('platform.signToken', () => {
  const call = async (token: unknown, path: string, init: RequestInit = {}) =>
    await fetch(test.gateway.url + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
  const sign = async (as: Parameters<typeof test.value>[0], claims: string) =>
    Object(await test.value(as, `export default platform.signToken(${claims});`)) as {
      token: string;
      expiresAt: string;
      roles: string[];
    };

  it('signs a token that reads what its user reads, for five minutes', async () => {
    const { token, expiresAt, roles } = await sign('accountant', '');
    expect(roles).toEqual(['accountant']);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(300_000);
    expect((await call(token, '/o/recs/fee_receipt?stream=true')).status).toBe(200);
    expect((await call(token, '/o/recs/fee_receipt?stream=true')).status).toBe(200);
  });

  it('keeps a token to the scopes and roles it was given', async () => {
    const { token } = await sign('admin', '{ scopes: { collections: { task: ["read"] } } }');
    expect((await call(token, '/o/recs/task?stream=true')).status).toBe(200);
    expect((await call(token, '/o/recs/fee_receipt?stream=true')).status).toBe(403);
    expect((await call(token, '/o/task', { method: 'POST', body: '{"name": "x"}' })).status).toBe(403);
    expect((await call(token, '/feesummary.svc?type=month')).status).toBe(403);
    const { token: roleless } = await sign('admin', '{ roles: [] }');
    expect((await call(roleless, '/o/recs/task?stream=true')).status).toBe(403);
  });

  it("does not let a part of one's rights become more", async () => {
    const { token } = await sign('admin', '{ scopes: { collections: { task: ["read"] }, scripts: ["*"] } }');
    const principal = await test.services.authenticator.authenticate(token);
    const scope = { ...(await test.scopeOf('admin')), principal };
    const again = await sign(scope, '{ scopes: { collections: { "*": ["*"] }, reports: ["*"] } }');
    expect((await call(again.token, '/o/recs/task?stream=true')).status).toBe(200);
    expect((await call(again.token, '/o/recs/fee_receipt?stream=true')).status).toBe(403);
    expect((await call(again.token, '/feesummary.svc?type=month')).status).toBe(403);
    await expect(test.services.apiKeys.create(scope, { name: 'mine', scopes: {} })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(
      test.services.authenticator.logout(principal, { address: '127.0.0.1' }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(await refusal(scope, 'platform.properties();')).toMatchObject({ code: 'FORBIDDEN' });
  });

  it.each([
    ['a role one does not have', '{ roles: ["admin"] }', 'FORBIDDEN'],
    ['a collection that does not exist', '{ scopes: { collections: { nope: ["read"] } } }', 'INVALID_VALUE'],
    ['a life of days', '{ expiresInSeconds: 86400 }', 'INVALID_VALUE'],
    ['a claim that is none', '{ userId: "usr-admin" }', 'INVALID_VALUE'],
  ])('refuses %s', async (_name, claims, code) => {
    expect(await refusal('clerk', `platform.signToken(${claims});`)).toMatchObject({ code });
  });

  it('refuses a script that runs with roles of its own', async () => {
    const scope = await test.scopeOf('admin');
    const service = { ...scope, principal: { ...scope.principal, kind: 'system' as const } };
    expect(await refusal(service, 'platform.signToken();')).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('platform.transaction', () => {
  const create = (name: string) => `await platform.db.create('task', { name: ${JSON.stringify(name)} });`;
  const countOf = async (name: string) =>
    await test.value(
      'admin',
      `export default platform.db.getCount('task', { name: ${JSON.stringify(name)} })`,
    );

  it('commits what its function wrote, and gives its value', async () => {
    const code = `export default await platform.transaction(async () => {
      ${create('kept')} ${create('kept')}
      return await platform.db.getCount('task', { name: 'kept' });
    });`;
    expect([await test.value('clerk', code), await countOf('kept')]).toEqual([2, 2]);
  });

  it('rolls all back when the function throws, which can be caught, and the script goes on', async () => {
    const code = `let caught;
      try { await platform.transaction(async () => { ${create('undone')} throw new Error('no'); }); }
      catch (error) { caught = error.message; }
      ${create('after')} export default caught;`;
    expect(await test.value('clerk', code)).toBe('no');
    expect([await countOf('undone'), await countOf('after')]).toEqual([0, 1]);
  });

  it('survives a write that is refused and caught', async () => {
    const code = `await platform.transaction(async () => {
      await platform.db.create('task', { _id: 'twice', name: 'first' });
      await platform.db.create('task', { _id: 'twice', name: 'second' }).catch(() => {});
      ${create('third')}
      for await (const { name } of platform.db.findStream('task', { _id: 'twice' })) platform.print(name);
    });`;
    const { error, output } = await test.run('clerk', code);
    expect([error, output.map(({ text }) => text), await countOf('third')]).toEqual([
      undefined,
      ['first'],
      1,
    ]);
  });

  it('is rolled back when the run ends within it', async () => {
    const { error } = await test.run(
      'clerk',
      `platform.transaction(async () => { ${create('cut')} for (;;); });`,
      {
        wallTimeMs: 3000,
      },
    );
    expect([error?.code, await countOf('cut')]).toEqual(['LIMIT_EXCEEDED', 0]);
  });

  it('is one at a time', async () => {
    const nested = 'export default platform.transaction(() => platform.transaction(() => 1));';
    expect((await refusal('clerk', nested))?.message).toContain('await platform.transaction(…)');
    expect((await refusal('clerk', 'platform.transaction();'))?.name).toBe('TypeError');
  });
});

describe('platform.crypto', () => {
  it('hashes, signs and compares', async () => {
    const code = `const { crypto } = platform; export default [
      crypto.hash('sha256', ''), crypto.hmac('sha256', '123456', '{"a":1,"b":2,"c":{"d":3}}'),
      platform.crypto.hash('md5', { hex: '00ff' }, 'base64'),
      platform.crypto.hmac('sha1', { base64: 'a2V5' }, 'x', 'base64url'),
      platform.crypto.isEqual('a', 'a'), crypto.isEqual('a', 'ab'), crypto.isEqual('', 'b')];`;
    expect(await test.value('viewer', code)).toEqual([
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      '2fe04e22977002e6c7cb553adab8b460cb9e2a4970d5953cb27a8472752e3bbc',
      createHash('md5')
        .update(Buffer.from([0, 255]))
        .digest('base64'),
      createHmac('sha1', 'key').update('x').digest('base64url'),
      ...[true, false, false],
    ]);
  });

  it('encodes, decodes and makes random texts', async () => {
    const code = `export default [platform.crypto.encode('नमस्ते'),
      platform.crypto.decode({ base64: platform.crypto.encode('नमस्ते') }),
      platform.crypto.encode({ hex: 'ff' }, 'base64url'), platform.crypto.uuid(),
      platform.crypto.random(8).length];`;
    expect(await test.value('viewer', code)).toEqual([
      ...[Buffer.from('नमस्ते').toString('base64'), 'नमस्ते', '_w'],
      ...[expect.stringMatching(/^[0-9a-f-]{36}$/), 16],
    ]);
    expect((await refusal('viewer', 'platform.crypto.decode({ base64: "?" });'))?.code).toBe('INVALID_VALUE');
    expect((await refusal('viewer', 'platform.crypto.random(5000);'))?.code).toBe('INVALID_VALUE');
  });
});

describe('platform.format', () => {
  it('writes days, times, amounts and numbers in the zone, language and currency of the school', async () => {
    const code = `const date = new Date('2026-11-27T20:00:00Z'); export default [
      platform.format.day(date), platform.format.day("2026-11-27", "medium"), platform.format.time(date),
      platform.format.money(1234567.5), platform.format.money('0.1', 'USD'),
      platform.format.number('12345678901234567890.5'),
      platform.format.number(2, 2)];`;
    expect(await test.value('viewer', code)).toEqual([
      ...['2026-11-28', '27 Nov 2026', '1:30 am'],
      ...['₹12,34,567.50', '$0.10', '1,23,45,67,89,01,23,45,67,890.5', '2.00'],
    ]);
    await test.services.domains.setProperty(await test.scopeOf('admin', 'east'), {
      name: 'language',
      value: 'hi-IN',
    });
    const east = await test.scopeOf('admin', 'east');
    expect(await test.value(east, 'export default platform.format.day("2026-11-27", "long")')).toBe(
      '27 नवंबर 2026',
    );
    expect((await refusal('viewer', 'platform.format.day("tomorrow");'))?.message).toContain(
      '"tomorrow" is not a date',
    );
  });

  it('is advised where a built-in function would ignore the language', async () => {
    for (const call of [
      'new Date().toLocaleDateString("en-CA")',
      '(5).toLocaleString("en-IN", {})',
      '[1].toLocaleString("de")',
    ]) {
      expect((await refusal('viewer', `${call};`))?.message).toContain('use platform.format');
    }
    expect(await test.value('viewer', 'export default (5).toLocaleString();')).toBe('5');
  });
});

describe('the platform', () => {
  it.each([
    ['platform.sendMail()', 'platform.sendMail does not exist. Did you mean "sendEmail"?'],
    ['platform.db.find("task")', 'platform.db.find does not exist. There are db.getCount, '],
    ['platform.crypto.sha256("x")', 'Did you mean "crypto.hash"?'],
    ['module.exports = 5', "'module' is not defined; give the result by `export default`"],
    ['new Intl.NumberFormat()', "'Intl' is not defined; platform.format writes"],
    [
      'platform.sendSms({ to: 5 })',
      'sms.to: Invalid input: expected string, received number; Invalid input: expected array, ',
    ],
  ])('says of %s what there is', async (code, message) => {
    expect((await refusal('viewer', `${code};`))?.message).toContain(message);
  });

  it('can still be looked at', async () => {
    const code =
      'const { db } = platform; ' +
      'export default ["nothing" in platform, JSON.stringify(db), await platform === platform];';
    expect(await test.value('viewer', code)).toEqual([false, '{}', true]);
  });

  it('gives a script without arguments an empty object', async () => {
    expect(await test.value('viewer', 'export default ({ day = "x" }) => [day, args]')).toEqual(['x', {}]);
  });

  it('lets streams wait for each other, and refuses one that would wait for itself', async () => {
    const all = `const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
      const stream = (...functions) => platform.db.findStream('task', {}, { limit: 1 }, ...functions);
      const counts = await Promise.all(names.map(() => stream(() => {})));
      const read = await Promise.all(names.map(async () => { for await (const one of stream()) return 1; }));
      export default [counts.length, read.length];`;
    expect(await test.value('admin', all)).toEqual([9, 9]);
    const open = Array.from(
      { length: 5 },
      () => 'for await (const _ of platform.db.findStream("task", {}))',
    ).join(' ');
    expect(await refusal('admin', `${open} platform.print(1);`)).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });

  it('rejects the awaited promise with what a callback throws', async () => {
    const code = `const caught = [];
      const fail = () => { throw new Error('mine'); };
      for (const call of [
        () => platform.db.getCount('task', {}, fail), () => platform.domains(fail),
        () => platform.db.findStream('task', {}, fail),
        () => platform.db.findStream('task', {}, () => {}, fail),
      ]) try { await call(); } catch (error) { caught.push(error.message); }
      export default caught;`;
    expect(await test.value('admin', code)).toEqual(['mine', 'mine', 'mine', 'mine']);
    expect(
      (await refusal('admin', 'platform.db.getCount("task", {}, () => { throw new Error("lost"); });'))
        ?.message,
    ).toBe('lost');
  });
});

describe('platform.report', () => {
  const PERIOD = { start_month: '2026-04', end_month: '2026-07' };

  it('gives a report with the rights of the run, as JSON or as an attachment', async () => {
    const read = 'export default platform.report(args.name, args.parameters, args.format)';
    const ask = (as: 'admin' | 'teacher', args: JsonObject) => test.value(as, read, args);
    expect(await ask('admin', { name: 'strength', parameters: { session: '2026-27' } })).toMatchObject({
      report: 'strength',
      parameters: { session: '2026-27' },
      rows: expect.any(Array),
      totals: expect.any(Object),
    });
    const file = await ask('admin', { name: 'fee-defaulters', parameters: PERIOD, format: 'csv' });
    expect(file).toMatchObject({ name: expect.stringMatching(/^fee-defaulters_.*\.csv$/) });
    const content = isJsonObject(file) ? Buffer.from(String(file.content), 'base64').toString() : '';
    expect(content).toMatch(/^\ufeff"?Student/);
    await expect(ask('teacher', { name: 'fee-defaulters', parameters: PERIOD })).rejects.toThrow('FORBIDDEN');
  });

  it.each([
    ['platform.report("feedefaulters")', /There is no report "feedefaulters". Did you mean/],
    ['platform.report("strength", { clas: "5" })', /clas is not a parameter of this report/],
    ['platform.report("strength", { date: "2026-02-30" })', /expected/],
    ['platform.report("strength", {}, "pdf")', /format/],
    [
      'await platform.transaction(() => platform.report("strength"))',
      /call it before or after the transaction/,
    ],
  ])('refuses %s', async (code, reason) => {
    expect((await refusal('admin', code))?.message).toMatch(reason);
  });
});
