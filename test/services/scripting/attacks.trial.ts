/**
 * Scripts that mean harm, or do it by mistake: each is ended with an error that says why, and the gateway
 * goes on.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { HostBinding } from '../../../src/services/scripting/platform/host-binding.js';
import type { RunResult } from '../../../src/services/scripting/run-request.js';
import { LIMITS, useRunner } from './runner.js';

const database = {
  transaction: async () => {
    throw new Error('none of these scripts writes');
  },
};

const BINDINGS: readonly HostBinding[] = [
  { name: 'echo', kind: 'function', returns: 'value', call: (_context, args) => [...args] },
  { name: 'count', kind: 'function', returns: 'value', call: (_context, args) => args.length },
  { name: 'request', kind: 'function', returns: 'value', maxCalls: 50, call: () => ({ status: 200 }) },
  {
    name: 'deaf',
    kind: 'function',
    returns: 'value',
    // Takes no notice of the run's end for a while.
    call: async () => {
      await sleep(1_500);
      return 'late';
    },
  },
];

const scripts = useRunner({
  database,
  bindings: BINDINGS,
  // So few calls are made within the time even where each takes as long as on a busy machine.
  limits: { cpuTimeMs: 500, wallTimeMs: 40_000, hostCalls: 1_000, warmThreads: 2 },
});

/** The longest the event loop of the gateway did nothing else, in milliseconds. */
async function withLoopDelay<T>(work: () => Promise<T>): Promise<{ result: T; longestMs: number }> {
  let longestMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  try {
    return { result: await work(), longestMs };
  } finally {
    clearInterval(timer);
  }
}

async function expectEnded(code: string, limit: string | RegExp): Promise<RunResult> {
  const { result, longestMs } = await withLoopDelay(() => scripts.run(code));
  expect({ limit: result.error?.limit, status: result.status, message: result.error?.message }).toEqual({
    limit: expect.stringMatching(limit),
    status: 'failed',
    message: expect.stringMatching(/^fees\.js was ended: it/),
  });
  // Far from what a script takes: the gateway was not waiting for it.
  expect(longestMs).toBeLessThan(2_000);
  return result;
}

describe('a script without an end', () => {
  it.each([
    ['an endless loop', 'for (;;);'],
    ['an endless loop that catches everything', 'for (;;) try { for (;;); } catch {}'],
    ['an endless loop in finally', 'try { throw 1 } finally { for (;;); }'],
    ['an endless loop after an await', 'await null; for (;;);'],
    [
      'an endless loop in an async function',
      'async function f() { for (;;); } try { await f(); } catch { for (;;); }',
    ],
    ['a chain of promises', 'const f = () => Promise.resolve().then(f); await f();'],
    ['a chain of awaits', 'for (;;) await null;'],
    [
      'a bomb of promises that keeps none',
      'const f = () => { Promise.resolve().then(f); Promise.resolve().then(() => {}); }; f();',
    ],
    ['an endless generator', 'function* g() { for (;;) yield 1; } for (const _ of g());'],
    [
      'an endless iterator in a native loop',
      'Array.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });',
    ],
    ['a getter without an end', 'export default { get a() { for (;;); } };'],
    ['a toJSON without an end', 'platform.echo({ toJSON() { for (;;); } });'],
    [
      'an error whose message has no end',
      'throw { get message() { for (;;); }, toString() { for (;;); } , toJSON() { for (;;); } };',
    ],
    [
      'a stack without an end',
      'const e = new Error("x"); Object.defineProperty(e, "stack", { get() { for (;;); } }); throw e;',
    ],
    ['a sort that compares for ever', '[3, 1, 2].sort(() => { for (;;); });'],
    ['a regular expression that goes back and forth', '/^(a+)+$/.test("a".repeat(40) + "b");'],
    ['a regular expression over alternatives', '/(x|x|x)*y/.test("x".repeat(60));'],
    ['a proxy that answers for ever', 'for (const key in new Proxy({}, { ownKeys() { for (;;); } }));'],
  ])('is ended: %s', async (_name, code) => {
    // Some of them run out of memory first.
    await expectEnded(code, /^(cpuTime|memory)$/);
  });

  it('tells the function it was in', async () => {
    const { error } = await expectEnded(
      'let n = 0;\nfunction spin() {\n  for (;;) n++;\n}\nspin();',
      'cpuTime',
    );
    expect(error).toMatchObject({
      script: 'fees.js',
      stack: expect.stringContaining('at spin (fees.js:'),
      line: expect.any(Number),
      message: expect.stringContaining('500 ms (SCRIPT_CPU_TIME_MS)'),
    });
  });

  it('is ended in a native operation that hears nothing, with its thread', async () => {
    const result = await scripts.run("new Array(1e8) + '';");
    expect(result.error).toMatchObject({ limit: expect.stringMatching(/cpuTime|memory/) });
    expect(await scripts.value('export default 1;')).toBe(1);
  });

  it.each([
    ['a join', 'new Array(3e8).join();'],
    ['a search', '"a".repeat(2e6).split("").map((_, i, all) => all.lastIndexOf("b"));'],
    ['a fill', 'const a = new Uint8Array(2e7); for (;;) a.fill(1);'],
    ['a big power', '(2n ** 4000000n) ** 3n;'],
    ['digits of a big number', 'String(7n ** 3000000n);'],
  ])('is ended in %s', async (_name, code) => {
    const result = await scripts.run(code);
    expect(result.status).toBe('failed');
  });

  it('is ended while it waits for a platform that is deaf', async () => {
    const code = 'platform.deaf(); platform.deaf(); platform.deaf(); platform.deaf();';
    const result = await scripts.run(code, { wallTimeMs: 4_000 });
    expect(result.error).toMatchObject({
      limit: 'wallTime',
      message: expect.stringContaining('4,000 ms (SCRIPT_WALL_TIME_MS)'),
    });
  });

  it('is held to less where its caller grants less', async () => {
    const result = await scripts.run('platform.deaf();', { wallTimeMs: 200 });
    expect(result.error).toMatchObject({ limit: 'wallTime', message: expect.stringContaining('200 ms') });
  });
});

describe('a script that takes too much memory', () => {
  it.each([
    ['lists', 'const all = []; for (;;) all.push(new Array(10000).fill(0));'],
    [
      'text',
      'let s = "x"; const all = []; for (;;) { all.push(s + all.length); s = s.length > 1e6 ? s : s + s; }',
    ],
    ['buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));'],
    ['a map', 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });'],
    ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => g() + 1; }'],
    ['promises', 'const all = []; for (;;) all.push(new Promise(() => {}));'],
    ['jobs', 'for (;;) Promise.resolve().then(() => 1);'],
    ['a buffer', 'new ArrayBuffer(1e9);'],
  ])('is ended: %s', async (_name, code) => {
    const { result } = await withLoopDelay(() => scripts.run(code));
    expect(result.error).toMatchObject({ limit: expect.stringMatching(/memory|cpuTime/) });
    expect(result.memoryBytes).toBeLessThan(LIMITS.memoryBytes + 32 * 1024 * 1024);
  });

  it('may catch that, and goes on within its limit', async () => {
    const code =
      'let all = []; try { for (;;) all.push(new Array(10000).fill(0)); } catch (e) { all = ' +
      'undefined; globalThis.e = e.message; } export default globalThis.e;';
    expect(await scripts.value(code)).toBe('out of memory');
  });

  it('cannot fill the platform by what it sends', async () => {
    const result = await scripts.run('platform.echo("x".repeat(5e6));');
    expect(result.error?.message).toMatch(/has 1,000,000 characters at most, not 5,000,00/);
  });

  it('cannot fill the platform by its result', async () => {
    const result = await scripts.run('export default "x".repeat(5e6);');
    expect(result.error?.message).toMatch(/has 1,000,000 characters at most/);
  });

  it('cannot send what is nested without measure', async () => {
    const result = await scripts.run(
      'let a = []; for (let i = 0; i < 400; i++) a = [a]; platform.count(a); for (let i = 0; i < ' +
        '1e5; i++) a = [a]; platform.count(a);',
    );
    expect(result.error).toMatchObject({ limit: expect.stringMatching(/stack|cpuTime/) });
  });
});

describe('a recursion without an end', () => {
  it.each([
    ['plain', 'function f() { return f() + 1; } f();'],
    ['of getters', 'const o = { get a() { return this.a; } }; o.a;'],
    ['of toString', 'const o = { toString() { return "" + this; } }; String(o);'],
    ['of sort', 'const f = () => [2, 1].sort(f); f();'],
    ['of JSON', 'const o = { toJSON() { return JSON.stringify(o); } }; JSON.stringify(o);'],
    ['of proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x;'],
    ['of replace', 'const f = () => "a".replace("a", f); f();'],
    ['of Reflect', 'const f = () => Reflect.apply(f, null, []); f();'],
  ])('is ended: %s', async (_name, code) => {
    const { error } = await scripts.run(code);
    expect(error).toMatchObject({
      limit: 'stack',
      message: 'fees.js was ended: its calls were nested too deeply, as in a recursion without an end',
    });
  });

  it('is ended in the parser and in regular expressions', async () => {
    expect((await scripts.run('JSON.parse("[".repeat(1e5));')).status).toBe('failed');
    expect((await scripts.run('eval("(".repeat(1e5));')).status).toBe('failed');
    expect((await scripts.run('new RegExp("(?:".repeat(1e5));')).status).toBe('failed');
    expect(await scripts.value('export default 1;')).toBe(1);
  });
});

describe('a script that floods', () => {
  it('the log is ended', async () => {
    const { output } = await expectEnded('for (let i = 0; ; i++) console.log("line " + i);', 'output');
    expect(output).toHaveLength(1_000);
  });

  it('the log with long lines is ended', async () => {
    const { output } = await expectEnded('for (;;) platform.print("x".repeat(10000));', 'output');
    expect(output.reduce((sum, line) => sum + line.text.length, 0)).toBeLessThanOrEqual(LIMITS.outputBytes);
  });

  it('the platform with calls is ended, though it catches errors', async () => {
    const { hostCalls } = await expectEnded('for (;;) try { platform.echo(1); } catch {}', 'hostCalls');
    expect(hostCalls).toBeGreaterThan(1_000);
  });

  it('the world with 10,000 requests is refused', async () => {
    const result = await scripts.run(
      'for (let i = 0; i < 10000; i++) platform.request("https://example.org/" + i);',
    );
    expect(result.error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'a run calls platform.request at most 50 times',
    });
  });

  it('the world with 10,000 requests at once makes them one after the other', async () => {
    const code =
      'await Promise.all(Array.from({ length: 10000 }, async () => ' +
      'platform.request("https://example.org")));';
    expect((await scripts.run(code)).error).toMatchObject({ code: 'LIMIT_EXCEEDED' });
  });
});

describe('a script that wants out', () => {
  it.each([
    ['process', 'export default typeof process;'],
    ['require', 'export default typeof require;'],
    ['module', 'export default typeof module;'],
    ['fetch', 'export default typeof fetch;'],
    ['setTimeout', 'export default typeof setTimeout;'],
    ['WebAssembly', 'export default typeof WebAssembly;'],
    ['Worker', 'export default typeof Worker;'],
    [
      'std and os of QuickJS',
      'export default typeof std + typeof os === "undefinedundefined" ? "undefined" : "there";',
    ],
    ['process by a constructor', 'export default (() => {}).constructor("return typeof process")();'],
    [
      'process by a constructor of the platform',
      'export default platform.echo.constructor("return typeof process")();',
    ],
    [
      'process by a constructor of what the platform gives',
      'export default platform.echo({}).constructor.constructor("return typeof process")();',
    ],
    [
      'process by an error of the platform',
      'let f; try { platform.missing() } catch (e) { f = e.constructor.constructor } export default ' +
        'f("return typeof process")();',
    ],
    ['process by the caller', 'export default (0, eval)("typeof process");'],
  ])('finds no %s', async (_name, code) => {
    expect(await scripts.value(code)).toBe('undefined');
  });

  it.each([
    ['a file', 'import fs from "node:fs";'],
    ['a file, later', 'await import("node:fs");'],
    ['std', 'import * as std from "std";'],
    ['an address', 'await import("https://example.org/x.js");'],
  ])('imports nothing: %s', async (_name, code) => {
    const result = await scripts.run(code);
    expect(result).toMatchObject({
      status: 'failed',
      error: { name: 'ReferenceError', message: expect.stringMatching(/^could not load module/) },
    });
  });

  it.each([
    ['platform', 'globalThis.platform = 1;'],
    ['console', 'globalThis.console = 1;'],
    ['a function of the platform', 'platform.echo = () => 1;'],
    ['the room', 'delete globalThis.platform;'],
  ])('cannot change %s', async (_name, code) => {
    expect((await scripts.run(code)).error).toMatchObject({ name: 'TypeError' });
  });

  it('only changes its own world by changing what all objects have', async () => {
    const code = `
      Object.prototype.toJSON = function () { return this; };
      Array.prototype.map = Array.prototype.push = Array.prototype.join = () => { throw new Error('mine'); };
      Array.prototype[Symbol.iterator] = function* () { yield 'mine'; };
      JSON.parse = JSON.stringify = Reflect.apply = () => 'mine';
      Promise.prototype.then = function (f) { return this; };
      Function.prototype.call = Function.prototype.apply = () => 'mine';
      String.prototype.slice = () => '+"mine"';
      globalThis.done = platform.echo(1, 'a')[0];
      export default globalThis.done;`;
    expect(await scripts.value(code)).toBe(1);
    expect(await scripts.value('export default [1].map((n) => n + 1)[0];')).toBe(2);
  });

  it('sends keys that mean something to a prototype as what they are', async () => {
    const code =
      'export default [platform.echo(JSON.parse(\'{"__proto__": {"admin": true}, "constructor": ' +
      "1}'))[0].admin === undefined, ({}).admin === undefined];";
    expect(await scripts.value(code)).toEqual([true, true]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('does not see another run that goes on beside it', async () => {
    const [first, second] = await Promise.all([
      scripts.run('globalThis.secret = 1; platform.deaf(); export default 1;'),
      scripts.run('platform.deaf(); export default typeof secret;'),
    ]);
    expect([first.value, second.value]).toEqual([1, 'undefined']);
  });
});

describe('many at once', () => {
  it('leave the others their turn', async () => {
    const bombs = [
      'for (;;);',
      'const a = []; for (;;) a.push(new Array(1000).fill(1));',
      'for (;;) console.log(1);',
      "new Array(1e8) + '';",
    ];
    const attack = Promise.all(bombs.slice(0, 3).map((code) => scripts.run(code)));
    const { result, longestMs } = await withLoopDelay(
      async () => await scripts.value('export default platform.echo(1);'),
    );
    expect(result).toEqual([1]);
    expect(longestMs).toBeLessThan(2_000);
    expect((await attack).every((run) => run.status === 'failed')).toBe(true);
    expect(scripts.faults).toEqual([]);
  });
});
