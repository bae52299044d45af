import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { JsonText } from '../../../src/base/scalars/json-text.js';
import { type HostBinding } from '../../../src/services/scripting/platform/host-binding.js';
import type { OutputLine } from '../../../src/services/scripting/run-request.js';
import { eventually } from '../../eventually.js';
import { LIMITS, SCOPE, useRunner } from './runner.js';

const database = {
  transaction: async () => {
    throw new Error('none of these scripts writes');
  },
};

const closed: string[] = [];

const BINDINGS: readonly HostBinding[] = [
  { name: 'echo', kind: 'function', returns: 'value', call: (_context, args) => [...args] },
  { name: 'nothing', kind: 'function', returns: 'value', call: () => undefined },
  { name: 'text', kind: 'function', returns: 'value', call: () => new JsonText('{"printed": [1.50]}') },
  {
    name: 'refuse',
    kind: 'function',
    returns: 'value',
    call: () => {
      throw new ServiceError('FORBIDDEN', 'not yours', { errors: [{ detail: 'to read', pointer: '/fee' }] });
    },
  },
  {
    name: 'fault',
    kind: 'function',
    returns: 'value',
    call: () => {
      throw new Error('the password is hunter2');
    },
  },
  { name: 'db.count', kind: 'function', returns: 'promise', call: (_context, [n]) => n },
  {
    name: 'db.refuse',
    kind: 'function',
    returns: 'promise',
    call: () => {
      throw new ServiceError('NOT_FOUND', 'no such collection');
    },
  },
  {
    name: 'twice',
    kind: 'function',
    returns: 'value',
    maxCalls: 2,
    call: () => true,
  },
  {
    name: 'sleep',
    kind: 'function',
    returns: 'value',
    call: async ({ signal }, [ms]) => {
      await sleep(Number(ms), undefined, { signal });
      return 'slept';
    },
  },
  { name: 'large', kind: 'function', returns: 'value', call: () => 'x'.repeat(LIMITS.payloadBytes + 1) },
  { name: 'who', kind: 'function', returns: 'value', call: ({ scope }) => scope.principal.userName },
  {
    name: 'db.stream',
    kind: 'stream',
    open: async function* (_context, [count]) {
      try {
        for (let start = 0; start < Number(count); start += 100) {
          yield Array.from({ length: Math.min(100, Number(count) - start) }, (_, i) => ({ n: start + i }));
        }
      } finally {
        closed.push('stream');
      }
    },
  },
  {
    name: 'db.texts',
    kind: 'stream',
    open: async function* () {
      yield Array.from({ length: 30 }, (_, n) => new JsonText(`{"n":${n},"text":"${'x'.repeat(100_000)}"}`));
    },
  },
  {
    name: 'db.largeBatch',
    kind: 'stream',
    open: async function* () {
      yield Array.from({ length: 30 }, (_, n) => ({ n, text: 'x'.repeat(100_000) }));
    },
  },
];

const scripts = useRunner({ database, bindings: BINDINGS });

describe('the result of a script', () => {
  it.each([
    ['its default export', 'export default { a: [1, null, "x"] };', { a: [1, null, 'x'] }],
    ['what a default function gives', 'export default (args) => args.a + 1;', 3],
    ['what its promise gives', 'export default async (args) => await Promise.resolve(args.a);', 2],
    ['an exported promise', 'export default Promise.resolve(args);', { a: 2 }],
    ['nothing', 'const x = 1;', undefined],
    ['found by top-level await', 'const x = await Promise.resolve(7); export default x;', 7],
    ['of ES2023', 'export default [3, 1, 2].toSorted().with(0, 9).findLast((n) => n > 2);', 3],
    [
      'without what JSON cannot say',
      'export default { f() {}, u: undefined, d: new Date(0) };',
      { d: '1970-01-01T00:00:00.000Z' },
    ],
  ])('is %s', async (_name, code, expected) => {
    expect(await scripts.value(code, { a: 2 })).toEqual(expected);
  });

  it('comes with what the run took', async () => {
    const result = await scripts.run('platform.echo(1); platform.echo(2); export default 1;');
    expect(result).toMatchObject({ status: 'succeeded', hostCalls: 2, output: [] });
    expect(result.memoryBytes).toBeGreaterThan(10_000);
    expect(result.durationMs).toBeGreaterThan(0);
    expect(result.cpuMs).toBeGreaterThan(0);
  });
});

describe('a call of the platform', () => {
  it.each([
    ['gives its value', 'export default platform.echo(1, "a", { b: [null] });', [1, 'a', { b: [null] }]],
    ['takes await', 'export default await platform.echo(1);', [1]],
    ['gives nothing', 'export default [platform.nothing() === undefined];', [true]],
    ['gives what is printed already', 'export default platform.text();', { printed: [1.5] }],
    ['gives a promise', 'export default await platform.db.count(4);', 4],
    ['gives a promise that takes then', 'export default platform.db.count(4).then((n) => n + 1);', 5],
    [
      'takes a callback',
      'let found; platform.db.count(4, (error, n) => { found = [error, n]; }); await null; await ' +
        'null; export default found;',
      [null, 4],
    ],
    [
      'calls the callback after the code that follows',
      'const order = []; platform.echo(1, () => order.push("callback")); order.push("next"); export ' +
        'default async () => { await null; return order; };',
      ['next', 'callback'],
    ],
    [
      'gives an error to the callback',
      'let found; platform.refuse((error) => { found = [error instanceof Error, error.code]; }); ' +
        'await null; await null; export default found;',
      [true, 'FORBIDDEN'],
    ],
    [
      'has a regular expression as Mongo writes it',
      'export default platform.echo({ name: /^A/i });',
      [{ name: { $regex: '^A', $options: 'i' } }],
    ],
    ['has a date as text', 'export default platform.echo(new Date(0));', ['1970-01-01T00:00:00.000Z']],
    ['knows for whom it acts', 'export default platform.who();', 'clerk'],
  ])('%s', async (_name, code, expected) => {
    expect(await scripts.value(code)).toEqual(expected);
  });

  it('throws what was refused as an error with code, status and details', async () => {
    const code =
      'try { platform.refuse() } catch (e) { globalThis.e = e } export default [e instanceof Error, ' +
      'e.name, e.message, e.code, e.status, e.errors];';
    expect(await scripts.value(code)).toEqual([
      true,
      'ServiceError',
      'not yours',
      'FORBIDDEN',
      403,
      [{ detail: 'to read', pointer: '/fee' }],
    ]);
  });

  it('tells a script nothing of a fault of ours, and the log everything', async () => {
    const result = await scripts.run('platform.fault();');
    expect(result.error).toMatchObject({ code: 'INTERNAL', status: 500 });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(scripts.faults).toContain('platform.fault: Error: the password is hunter2');
  });

  it.each([
    [
      'undefined in an object',
      'platform.echo({ limit: undefined });',
      'platform.echo: "limit" is undefined: leave it out or write null',
    ],
    ['NaN', 'platform.echo({ a: 0 / 0 });', '"a" is NaN, which JSON cannot hold'],
    ['a function', 'platform.echo({ a() {} }, 1);', '"a" is a function, which JSON cannot hold'],
    ['a promise', 'platform.echo(platform.db.count(1));', '"0" is a promise: write await'],
    ['a BigInt', 'platform.echo(1n);', '"0" is a bigint'],
  ])('refuses %s, which would become something else', async (_name, code, message) => {
    expect((await scripts.run(code)).error).toMatchObject({
      name: 'TypeError',
      message: expect.stringContaining(message),
      line: 1,
    });
  });

  it('is refused once it was made as often as its binding allows', async () => {
    const result = await scripts.run('platform.twice(); platform.twice(); platform.twice();');
    expect(result.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'a run calls platform.twice at most 2 times',
    });
  });

  it('gets its own answer, however quickly one follows the other on several threads', async () => {
    const code =
      'for (let n = 0; n < 250; n++) if (platform.echo(n)[0] !== n) throw new Error("not " + n); ' +
      'export default 1;';
    const values = await Promise.all([1, 2, 3, 4].map(() => scripts.value(code)));
    expect(values).toEqual([1, 1, 1, 1]);
  });

  it('says to await a promise that is used as a value', async () => {
    const result = await scripts.run('if (platform.db.count(3) > 2) platform.echo(1);');
    expect(result.error?.message).toBe('this is a promise of a value: write await before the call');
  });
});

describe('a stream', () => {
  it('gives each record to the first function, then calls the second', async () => {
    const code = `
      const seen = []; let end;
      await platform.db.stream(250, async (record) => { await null; seen.push(record.n); }, (error, count) => { end = [error, count]; });
      export default [seen.length, seen[249], end];`;
    expect(await scripts.value(code)).toEqual([250, 249, [null, 250]]);
  });

  it('is something to go through', async () => {
    const code = `
      let sum = 0;
      for await (const { n } of platform.db.stream(250)) sum += n;
      for (const { n } of platform.db.stream(3)) sum += n;
      export default sum;`;
    expect(await scripts.value(code)).toBe(31_128);
  });

  it('is closed when the loop is left, and when the script ends', async () => {
    closed.length = 0;
    await scripts.value(
      'for (const { n } of platform.db.stream(1000)) if (n === 5) break; export default 1;',
    );
    expect(closed).toEqual(['stream']);
    await scripts.value(
      'const all = platform.db.stream(1000)[Symbol.iterator](); all.next(); export default 1;',
    );
    expect(closed).toEqual(['stream', 'stream']);
  });

  it('cuts a batch that is too much for one answer', async () => {
    const code = 'let sum = 0; for (const { n } of platform.db.largeBatch()) sum += n; export default sum;';
    expect(await scripts.value(code)).toBe(435);
    expect(await scripts.value(code.replace('largeBatch', 'texts'))).toBe(435);
  });

  it('fails the run when a function fails and nobody hears of it', async () => {
    const result = await scripts.run('platform.db.stream(3, () => { throw new Error("no") });');
    expect(result.error).toMatchObject({ message: 'no', line: 1 });
  });
});

describe('the output of a script', () => {
  it('comes as it is printed, with its level', async () => {
    const lines: OutputLine[] = [];
    const { output } = await scripts.run(
      'platform.print("a", 1, { b: 2 }, [undefined], null); console.warn("w"); console.error(new ' +
        'TypeError("t").message); console.debug(undefined);',
      { onOutput: (line) => lines.push(line) },
    );
    expect(output.map(({ level, text }) => [level, text])).toEqual([
      ['info', 'a 1 {"b":2} [null] null'],
      ['warn', 'w'],
      ['error', 't'],
      ['debug', 'undefined'],
    ]);
    expect(lines).toEqual(output);
  });

  it('is told before the call that follows it is answered', async () => {
    const events: string[] = [];
    const running = scripts
      .run('platform.print("before"); platform.sleep(300);', {
        onOutput: (line) => events.push(`told ${line.text}`),
      })
      .then(() => events.push('ended'));
    await eventually(() => events.length > 0);
    expect(events).toEqual(['told before']);
    await running;
    expect(events).toEqual(['told before', 'ended']);
  });

  it('cuts a line of any length', async () => {
    const { output } = await scripts.run('console.log("x".repeat(1e6));');
    expect(output[0]?.text.length).toBeLessThan(20_000);
  });
});

describe('an error of a script', () => {
  it.each([
    ['a syntax error', 'const a = 1;\nconst b = ;', { name: 'SyntaxError', line: 2, column: 11 }],
    [
      'a throw',
      'function pay() {\n  throw new Error("no fee");\n}\npay();',
      { name: 'Error', message: 'no fee', line: 2 },
    ],
    ['a throw after an await', 'await null;\nnull.fee;', { name: 'TypeError', line: 2 }],
    [
      'a refusal',
      '\n\nplatform.refuse();',
      { name: 'ServiceError', code: 'FORBIDDEN', status: 403, line: 3 },
    ],
    [
      'a refusal in a callback',
      'platform.echo(1, () => {\n  platform.refuse();\n});',
      { code: 'FORBIDDEN', line: 2 },
    ],
    ['a refusal nobody waited for', '\nplatform.db.refuse();', { code: 'NOT_FOUND', line: 2 }],
    ['a failed default function', 'export default () => {\n  null.x;\n}', { name: 'TypeError', line: 2 }],
    ['a thrown value', 'throw { a: 1 };', { name: 'Error', message: 'threw {"a":1}' }],
    ['a result JSON cannot say', 'export default 1n;', { name: 'TypeError' }],
    [
      'a promise without an end',
      'await new Promise(() => {});',
      { message: 'the script waits for a promise that nothing will settle' },
    ],
  ])('tells the place of %s', async (_name, code, expected) => {
    const result = await scripts.run(code);
    expect(result).toMatchObject({ status: 'failed', error: { script: 'fees.js', ...expected } });
    expect(result.error?.stack).not.toContain('<platform>');
  });

  it('cannot claim a code that is not in the catalog', async () => {
    const result = await scripts.run('throw Object.assign(new Error("x"), { code: "ROOT", status: 200 });');
    expect(result.error).not.toHaveProperty('code');
  });

  it('takes its status from the catalog', async () => {
    const result = await scripts.run(
      'throw Object.assign(new Error("x"), { code: "CONFLICT", status: 200, errors: [{ detail: "d" }, 1] });',
    );
    expect(result.error).toMatchObject({ code: 'CONFLICT', status: 409, errors: [{ detail: 'd' }] });
  });
});

describe('the time zone of a script', () => {
  it.each([
    ['Asia/Kolkata', 'Fri Jan 02 2026 03:30:00 GMT+0530', -330],
    ['America/New_York', 'Thu Jan 01 2026 17:00:00 GMT-0500', 300],
    ['Asia/Kathmandu', 'Fri Jan 02 2026 03:45:00 GMT+0545', -345],
    ['UTC', 'Thu Jan 01 2026 22:00:00 GMT+0000', 0],
  ])('is that of its domain: %s', async (timeZone, text, offset) => {
    const code =
      'const d = new Date(Date.UTC(2026, 0, 1, 22)); export default [String(d).slice(0, 33), ' +
      'd.getTimezoneOffset(), d.getDate()];';
    const scope = { ...SCOPE, domain: { ...SCOPE.domain, timeZone } };
    const result = await scripts.run(code, { scope });
    expect(result.value).toEqual([text, offset, Number(text.slice(8, 10))]);
  });

  it('knows summer time', async () => {
    const scope = { ...SCOPE, domain: { ...SCOPE.domain, timeZone: 'America/New_York' } };
    const code = 'export default [new Date(2026, 6, 1, 12), new Date(2026, 0, 1, 12)];';
    const { value } = await scripts.run(code, { scope });
    expect(value).toEqual(['2026-07-01T16:00:00.000Z', '2026-01-01T17:00:00.000Z']);
  });
});

describe('a run', () => {
  it('leaves nothing to the next one', async () => {
    await scripts.value('globalThis.left = 1; Array.prototype.left = 1; export default 1;');
    expect(await scripts.value('export default [typeof left, [].left === undefined];')).toEqual([
      'undefined',
      true,
    ]);
  });

  it('ends when its caller goes, also while it waits for the platform', async () => {
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 150);
    const startedAt = performance.now();
    const result = await scripts.run('platform.sleep(10000);', { signal: caller.signal });
    expect(result).toMatchObject({ status: 'failed', error: { name: 'AbortError' } });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('is not started for a caller who has gone', async () => {
    await expect(scripts.run('1;', { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
  });

  it('reads half as many lists at once as all runs together may, and one more once one is closed', async () => {
    const open = 'platform.db.stream(5)[Symbol.asyncIterator]()';
    const code = `
      const lists = [];
      for (let n = 0; n < 3; n++) { lists.push(${open}); await lists[n].next(); }
      let refused;
      try { await ${open}.next(); } catch (error) { refused = error.code; }
      await lists[0].return();
      export default [refused, (await ${open}.next()).value.n];`;
    expect(await scripts.value(code)).toEqual(['LIMIT_EXCEEDED', 0]);
  });

  it('leaves no list open behind: the next ones have them all', async () => {
    const code = `
      for (let n = 0; n < 3; n++) await platform.db.stream(5)[Symbol.asyncIterator]().next();
      export default 1;`;
    for (let run = 0; run < 4; run++) expect(await scripts.value(code)).toBe(1);
  });

  it('waits for a place, and is refused when too many wait', async () => {
    const runs = Array.from({ length: 9 }, () => scripts.run('platform.sleep(200); export default 1;'));
    const results = await Promise.allSettled(runs);
    expect(results.filter((one) => one.status === 'fulfilled' && one.value.value === 1)).toHaveLength(8);
    const refused = results.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
  });

  it.each([
    [
      'code',
      { source: { name: 'fees.js', code: ' '.repeat(100_001) } },
      /larger than 100,000 bytes \(SCRIPT_CODE_BYTES\)/,
    ],
    ['arguments', { arguments: 'x'.repeat(1_000_000) }, /SCRIPT_PAYLOAD_BYTES/],
    ['depth', { depth: 4 }, /nested no deeper than 3 \(SCRIPT_DEPTH\)/],
  ])('is not started with too much %s', async (_name, request, message) => {
    const run = scripts.run('export default 1;', request);
    await expect(run).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(message),
    });
  });
});
