/**
 * `npm run bench -- lighthouse`: what Lighthouse says of pages of the portal, over the demo school, on the
 * slow phone that it imitates: 4 times less processor, 1.6 Mbit/s, 150 ms to the server. The processor it
 * divides is that of this machine, so that a busy one scores less: the last column says how fast it was, and
 * scores compare where that is much the same. As one score says little, each page is scored several times:
 * the table has the median with the least and the greatest, and the others of the run in the middle.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { type BrowserContext, chromium } from 'playwright-core';
import { seedSchool } from '../../src/cli/seed-command.js';
import { DEMO_DEFAULTS } from '../../src/school/demo/demo-options.js';
import { findChromium } from '../browser/find-chromium.js';
import { median } from './median.js';
import { startGateway } from './targets/gateway.js';
import { installPeer } from './targets/peer.js';
import { withBenchServices } from './with-bench-services.js';

const run = promisify(execFile);

const BEFORE_LOGGING_IN = 'log-in';
/** Where somebody begins, and what is read most. */
const PAGES: readonly (readonly [name: string, path: string])[] = [
  [BEFORE_LOGGING_IN, '/'],
  ['home', '/'],
  ['records', '/portal/records/registration'],
  ['record', '/portal/records/registration/stu-00001'],
  ['report', '/portal/reports/strength'],
  ['developer', '/portal/start'],
  ['dashboard', '/portal/dashboards/dashboard-school'],
];

interface LighthouseReport {
  /** How fast this machine was, by a loop of Lighthouse's own: some 1,500 and more of a quiet one. */
  readonly environment: { readonly benchmarkIndex: number };
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<
    Record<
      string,
      {
        readonly displayValue?: string;
        readonly numericValue?: number;
        readonly score: number | null;
        readonly title: string;
      }
    >
  >;
}

export interface LighthouseOptions {
  /** Pages by name; empty: all. */
  readonly only: readonly string[];
  /** How many times each page is scored. */
  readonly rounds: number;
}

export async function benchLighthouse(
  databaseUrl: string,
  { only, rounds }: LighthouseOptions,
): Promise<void> {
  await seedDemo(databaseUrl);
  const installed = await installPeer({ name: 'lighthouse' });
  const directory = await mkdtemp(path.join(tmpdir(), 'campus-lighthouse-'));
  const [gateway] = await startGateway({ databaseUrl, keys: [''], directory, poolSize: 8, workers: 1 });
  if (gateway === undefined) throw new Error('no gateway was started');
  const profile = path.join(directory, 'profile');
  const { executablePath, env } = await findChromium();
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--remote-debugging-port=0'],
  });
  try {
    const port = await debuggingPortOf(profile);
    const table = new Table({
      style: { head: [], border: [], compact: true },
      head: [
        ...['page', 'performance', 'accessibility', 'first paint', 'largest paint', 'blocked'],
        ...['processor', 'shift', 'machine'],
      ],
    });
    const missed: string[] = [];
    let isLoggedIn = false;
    for (const [name, address] of PAGES) {
      if (only.length > 0 && !only.includes(name)) continue;
      process.stderr.write(`bench: ${name}\n`);
      if (name !== BEFORE_LOGGING_IN && !isLoggedIn) {
        await logInOnce(browser, gateway.url);
        isLoggedIn = true;
      }
      const reports: LighthouseReport[] = [];
      while (reports.length < rounds) {
        await forgetCache(browser);
        reports.push(await lookAt(gateway.url + address, { installed, port }));
      }
      table.push([name, ...summaryOf(reports)]);
      const failures = new Set(
        reports.filter((report) => scoreOf(report, 'accessibility') < 100).flatMap(failuresOf),
      );
      if (failures.size > 0) missed.push(`${name}: ${[...failures].join('; ')}`);
    }
    process.stdout.write(`${table.toString()}\n${missed.map((line) => `${line}\n`).join('')}`);
  } finally {
    await browser.close();
    await gateway.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** What the table says of the runs of a page. */
function summaryOf(reports: readonly LighthouseReport[]): readonly (string | number)[] {
  const scores = reports.map((report) => scoreOf(report, 'performance'));
  const middle = reports[scores.indexOf(median(scores))];
  const shown = (audit: string) => middle?.audits[audit]?.displayValue ?? '';
  return [
    `${median(scores)} (${Math.min(...scores)}–${Math.max(...scores)})`,
    Math.min(...reports.map((report) => scoreOf(report, 'accessibility'))),
    shown('first-contentful-paint'),
    shown('largest-contentful-paint'),
    shown('total-blocking-time'),
    shown('mainthread-work-breakdown'),
    shown('cumulative-layout-shift'),
    Math.round(middle?.environment.benchmarkIndex ?? Number.NaN),
  ];
}

function scoreOf(report: LighthouseReport, category: string): number {
  return Math.round((report.categories[category]?.score ?? 0) * 100);
}

async function seedDemo(databaseUrl: string): Promise<void> {
  await withBenchServices(databaseUrl, async (services) => {
    if (services.domains.top() === undefined) await seedSchool(services, DEMO_DEFAULTS);
  });
}

/** Its cookie stays in the profile, which Lighthouse asks with. */
async function logInOnce(browser: BrowserContext, url: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password').fill('demo-admin');
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.locator('#content').waitFor();
  await page.close();
}

/** Chromium chooses a free one, and writes it down. */
async function debuggingPortOf(profile: string): Promise<number> {
  const [port] = (await readFile(path.join(profile, 'DevToolsActivePort'), 'utf8')).split('\n');
  return Number(port);
}

/** What a page has loaded before would be there already: Lighthouse keeps the cache with the cookie. */
async function forgetCache(browser: BrowserContext): Promise<void> {
  const page = await browser.newPage();
  const session = await browser.newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await page.close();
}

async function lookAt(
  url: string,
  { installed, port }: { readonly installed: string; readonly port: number },
): Promise<LighthouseReport> {
  const program = path.join(installed, 'node_modules/lighthouse/cli/index.js');
  const settings = ['--output=json', '--disable-storage-reset', '--quiet', '--no-enable-error-reporting'];
  const categories = '--only-categories=performance,accessibility';
  const { stdout } = await run(process.execPath, [program, url, `--port=${port}`, categories, ...settings], {
    maxBuffer: 256 * 2 ** 20,
  });
  return JSON.parse(stdout) as LighthouseReport;
}

/** Audits of accessibility have no measure: they hold, or fail at elements. */
function failuresOf({ audits }: LighthouseReport): readonly string[] {
  return Object.values(audits)
    .filter(({ score, displayValue }) => score === 0 && displayValue === undefined)
    .map(({ title }) => title);
}
