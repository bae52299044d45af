/**
 * `npm run bench -- scripts`: what scripts cost (a start cold and warm, calls of the platform, the memory of
 * 20 at once), and what a caller of the gateway notices of those that mean harm: the latency of a short list
 * of records while they run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import { operatorScope } from '../../src/cli/command-line.js';
import { seedSchool } from '../../src/cli/seed-command.js';
import { DEMO_DEFAULTS } from '../../src/school/demo/demo-options.js';
import { startTarget, stopTarget, type Target, usageOf } from './child-server.js';
import type { RunReport } from './scripts-gateway.js';
import { withBenchServices } from './with-bench-services.js';

const PLAIN = { head: [], border: [], compact: true };
const CLIENTS = 4;
const SECONDS = 3;

const ATTACKS: readonly (readonly [string, string])[] = [
  ['none', ''],
  ['endless loops', 'for (;;);'],
  ['memory bombs', 'const all = []; for (;;) all.push(new Array(10000).fill(0));'],
  ['recursion bombs', 'for (;;) try { (function f() { return f() + 1; })(); } catch {}'],
  ['native loops', "for (;;) try { new Array(1e8) + ''; } catch {}"],
  ['regular expressions', '/^(a+)+$/.test("a".repeat(40) + "b");'],
  ['promise chains', 'const f = () => Promise.resolve().then(f); await f();'],
  ['log floods', 'for (;;) console.log("x".repeat(100));'],
  ['call floods', 'for (;;) platform.isTopDomain();'],
  ['requests', 'for (let i = 0; i < 10000; i++) try { platform.request("http://127.0.0.1/"); } catch {}'],
];

export async function benchScripts(databaseUrl: string): Promise<void> {
  const key = await prepareSmallSchool(databaseUrl);
  const gateway = await startTarget(new URL('./scripts-gateway.ts', import.meta.url), {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_PER_MINUTE: '1000000000',
    SCRIPT_CPU_TIME_MS: '500',
    SCRIPT_WARM_THREADS: '0',
    SCRIPT_QUEUED_RUNS: '10000',
    SCRIPT_CALLER_QUEUED_RUNS: '10000',
    SCRIPT_CALLER_RUNS: '20',
    SCRIPT_DOMAIN_RUNS: '20',
  });
  try {
    await tellCosts(gateway);
    await tellLatencies(gateway, key);
  } finally {
    await stopTarget(gateway);
  }
}

async function tellCosts(gateway: Target): Promise<void> {
  const table = new Table({ style: PLAIN, head: ['scripts', 'figure'] });
  const first = await order(gateway, 'export default 1;', 1);
  table.push(['the first run, thread included, ms', format(first.milliseconds[0] ?? 0)]);
  const warm: number[] = [];
  for (let n = 0; n < 300; n++) warm.push(...(await order(gateway, 'export default 1;', 1)).milliseconds);
  table.push([
    'a warm run, median / p99, ms',
    `${format(quantile(warm, 0.5))} / ${format(quantile(warm, 0.99))}`,
  ]);
  for (const [name, call, times] of [
    ['platform.isTopDomain()', 'platform.isTopDomain()', 10_000],
    ['await platform.db.getCount("task", {})', 'await platform.db.getCount("task", {})', 3_000],
  ] as const) {
    const code =
      `const start = Date.now(); for (let n = 0; n < ${times}; n++) ${call}; export default ${times} / ` +
      '(Date.now() - start) * 1000;';
    const report = await order(gateway, code, 1);
    table.push([
      `${name}, a second`,
      report.errors[0] ?? Math.round(Number(report.value)).toLocaleString('en'),
    ]);
  }
  const before = (await usageOf(gateway)).rssBytes;
  let most = 0;
  let isDone = false;
  const running = order(
    gateway,
    'const kept = new Array(100000).fill(0).map((_, n) => ({ n })); for (let n = 0; n < 2e6; n++); ' +
      'export default kept.length;',
    20,
  ).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    most = Math.max(most, (await usageOf(gateway)).rssBytes);
    await sleep(100);
  }
  await running;
  table.push([
    '20 runs at once, each with 100,000 objects: growth, MiB',
    Math.round((most - before) / 2 ** 20),
  ]);
  process.stdout.write(`${table.toString()}\n\n`);
}

/** An API key of its admin. */
async function prepareSmallSchool(databaseUrl: string): Promise<string> {
  return await withBenchServices(databaseUrl, async (services) => {
    if (services.domains.top() === undefined) await seedSchool(services, { ...DEMO_DEFAULTS, students: 200 });
    const scopes = { collections: { '*': ['read'] }, reports: [], scripts: [] };
    const request = { name: 'bench', userId: 'usr-admin', scopes };
    return (await services.apiKeys.create(operatorScope(services, undefined), request)).key;
  });
}

async function tellLatencies(gateway: Target, key: string): Promise<void> {
  const table = new Table({
    style: PLAIN,
    head: ['20 scripts at once', 'req/s', 'p50 ms', 'p99 ms', 'most ms', 'ended by'],
  });
  for (const [name, code] of ATTACKS) {
    process.stderr.write(`bench: ${name}\n`);
    let isOver = false;
    const errors = new Set<string>();
    const attackers = Array.from({ length: code === '' ? 0 : 20 }, async () => {
      while (!isOver) for (const error of (await order(gateway, code, 1)).errors) errors.add(error);
    });
    await sleep(300);
    const milliseconds = await load(gateway.url, key);
    isOver = true;
    await Promise.all(attackers);
    table.push([
      name,
      Math.round(milliseconds.length / SECONDS),
      format(quantile(milliseconds, 0.5)),
      format(quantile(milliseconds, 0.99)),
      format(Math.max(...milliseconds)),
      [...errors].join('; ').slice(0, 90),
    ]);
  }
  process.stdout.write(`${table.toString()}\n`);
}

/** What each of some requests of a few clients took. */
async function load(url: string, key: string): Promise<number[]> {
  const milliseconds: number[] = [];
  const end = performance.now() + SECONDS * 1000;
  const headers = { authorization: `Bearer ${key}` };
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) {
        const startedAt = performance.now();
        const answer = await fetch(`${url}/o/recs/task?stream=true&limit=5`, { headers });
        await answer.arrayBuffer();
        if (!answer.ok) throw new Error(`${answer.status}`);
        milliseconds.push(performance.now() - startedAt);
      }
    }),
  );
  return milliseconds;
}

let orders = 0;

async function order({ process: child }: Target, code: string, times: number): Promise<RunReport> {
  orders += 1;
  const number = orders;
  return await new Promise((resolve) => {
    const hear = (message: unknown) => {
      const { report } = Object(message) as { readonly report?: RunReport };
      if (report?.order !== number) return;
      child.off('message', hear);
      resolve(report);
    };
    child.setMaxListeners(100);
    child.on('message', hear);
    child.send({ order: number, code, times });
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function format(milliseconds: number): string {
  return milliseconds.toFixed(1);
}
