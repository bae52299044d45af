/**
 * `npm run bench -- reports`: every report over a large school (school-records.ts). Prints for each the
 * median of warm runs, the time Postgres' process was on a processor, the target, and the shape of its plan:
 * how each collection is reached. The first lines say how fast the machine is at the least things: a row by
 * its key as pgbench reads it, and one record by its key. One query runs on one processor: no parallel
 * workers. A second table sets three reports beside statements written by hand.
 */
import { readFile } from 'node:fs/promises';
import Table from 'cli-table3';
import type { Scope } from '../../src/base/model/scope.js';
import type { ReportServices } from '../../src/school/reports/engine/report-context.js';
import { pageStatement } from '../../src/school/reports/engine/statement.js';
import { reports } from '../../src/school/reports/registry.js';
import { Catalog } from '../../src/store/catalog/catalog.js';
import { type Database, openDatabase } from '../../src/store/database/database.js';
import { applyMigrations } from '../../src/store/database/migrations.js';
import { RecordStore } from '../../src/store/record-store.js';
import { type Sql, sql } from '../../src/store/sql.js';
import { median } from './median.js';
import { selectsASecond } from './pgbench.js';
import { fillPlainTables } from './plain-tables.js';
import { compareByHand } from './reports-by-hand.js';
import { SCHOOL, seedRecords } from './school-records.js';

const NOW = new Date('2027-03-31T12:00:00.000Z');
const RUNS = 7;
interface ReportBench {
  readonly report: string;
  readonly sent: Readonly<Record<string, string>>;
  /** Not every report has one. */
  readonly targetMs?: number;
}

const BENCHES: readonly ReportBench[] = [
  { report: 'fee-defaulters', sent: { start_month: '2026-04', end_month: '2027-03' }, targetMs: 600 },
  {
    report: 'daily-fee-collection',
    sent: { from: '2026-07-01', to: '2026-07-31', payment_type: 'all' },
    targetMs: 60,
  },
  { report: 'fee-summary', sent: { type: 'month', session: '2026-27' }, targetMs: 400 },
  { report: 'class-attendance', sent: { class: '5', start: '2026-07', end: '2026-07' }, targetMs: 60 },
  {
    report: 'class-grade-book',
    sent: { session: '2026-27', term: 'halfyear', class: '5', section: 'A' },
    targetMs: 30,
  },
  { report: 'student-concession', sent: { 'name.value': 'stu-00011' } },
  { report: 'leave-requests', sent: { date: '2026-07-06' } },
  { report: 'daily-unique-sms', sent: { date: '2026-07-06' } },
  { report: 'rolled-back-receipts', sent: { from: '2026-07-01', to: '2026-07-31' } },
  { report: 'classes-by-category', sent: { session: '2026-27' } },
  { report: 'student-attendance', sent: { admission_no: 'A-1000', start: '2026-07-01', end: '2026-07-31' } },
  { report: 'student', sent: { sequence: 'A-1000' } },
  { report: 'teachers', sent: { roles: 'teacher' } },
  {
    report: 'teacher-attendance',
    sent: { 'name.value': 'usr-00007', start: '2026-07-01', end: '2026-07-31' },
  },
  { report: 'grade-book', sent: { session: '2026-27', term: 'halfyear', admission_no: 'A-1000' } },
  { report: 'collection-trend', sent: { from: '2026-04-01', to: '2027-03-31', interval: 'month' } },
  { report: 'outstanding-ageing', sent: {} },
  { report: 'attendance-shortage', sent: { start: '2026-07-01', end: '2026-07-31' } },
  { report: 'day-sheet', sent: { date: '2026-07-06' } },
  { report: 'strength', sent: { session: '2026-27' } },
  { report: 'teacher-workload', sent: { from: '2026-07-01', to: '2026-07-31' } },
];

export async function benchReports(url: string): Promise<void> {
  const database = await openDatabase({ url, poolSize: 2, statementTimeoutMs: 120_000 });
  await applyMigrations({ url });
  const catalog = await Catalog.load({ database, directory: 'schema/collections', domains: () => [SCHOOL] });
  try {
    await seedRecords(url, { students: 5000, days: 200 });
    await fillPlainTables(url);
    console.log(`pgbench, select only, one client: ${await selectsASecond(url)}`);
    await printBenches(database, catalog);
  } finally {
    await catalog.close();
    await database.close();
  }
}

async function printBenches(database: Database, catalog: Catalog): Promise<void> {
  const services: ReportServices = {
    database,
    store: new RecordStore({ database, catalog, topDomain: () => SCHOOL }),
    domains: { property: () => undefined },
    now: () => NOW,
    defaultPageSize: 50,
    maxPageSize: 1000,
  };
  console.log(`one record by its key: ${await recordsASecond(database)} a second on one connection`);
  const table = new Table({
    style: { head: [], border: [] },
    head: ['report', 'ms', 'cpu ms', 'target', 'plan'],
    colWidths: [24, 9, 9, 9, 90],
    wordWrap: true,
  });
  for (const bench of BENCHES) {
    const report = reports.find(({ name }) => name === bench.report);
    if (!report) continue;
    const statement = pageStatement((await report.run(services, ADMIN, bench.sent)).statement, 51, undefined);
    const measured = await measureStatement(database, statement);
    table.push([
      bench.report,
      measured.ms.toFixed(1),
      measured.cpuMs.toFixed(0),
      bench.targetMs ?? '',
      await planShape(database, statement),
    ]);
  }
  console.log(table.toString());
  console.log(await compareByHand(services, ADMIN));
}

const ADMIN: Scope = {
  domain: SCHOOL,
  call: { requestId: 'bench' },
  principal: {
    kind: 'user',
    id: 'usr-admin',
    userName: 'admin',
    domainId: SCHOOL.id,
    roles: new Set(['admin']),
    credential: { kind: 'token', id: 'bench' },
    scopes: undefined,
    attributes: {},
  },
};

async function measureStatement(database: Database, statement: Sql): Promise<{ ms: number; cpuMs: number }> {
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    await client.query('set max_parallel_workers_per_gather = 0');
    await client.query(statement.text, statement.values);
    const runs: { ms: number; cpuMs: number }[] = [];
    for (let run = 0; run < RUNS; run++) {
      const [cpu, start] = [await processorMs(pid), performance.now()];
      await client.query(statement.text, statement.values);
      runs.push({ ms: performance.now() - start, cpuMs: (await processorMs(pid)) - cpu });
    }
    return { ms: median(runs.map(({ ms }) => ms)), cpuMs: median(runs.map(({ cpuMs }) => cpuMs)) };
  } finally {
    await client.query('reset max_parallel_workers_per_gather');
    client.release();
  }
}

/**
 * Time the process of a connection has had a processor, in steps of 10 ms; NaN where the system does not say.
 */
async function processorMs(pid: number): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

async function recordsASecond(database: Database): Promise<number> {
  const started = performance.now();
  let count = 0;
  for (; performance.now() - started < 2000; count++) {
    const id = `stu-${String(1 + (count % 5000)).padStart(5, '0')}`;
    await database.query(
      sql`select data::text from records where domain = ${SCHOOL.id} and collection = 'registration' and id = ${id}`,
      { name: 'bench_key' },
    );
  }
  return Math.round(count / 2);
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Loops'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How each collection is reached, in the order of the plan. Scans that never ran are left out. */
async function planShape(database: Database, statement: Sql): Promise<string> {
  const { rows } = await database.pool.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
    `explain (analyze, timing off, format json) ${statement.text}`,
    statement.values,
  );
  const scans: string[] = [];
  const visit = (node: PlanNode): void => {
    const relation = node['Relation Name'];
    if (relation && node['Actual Loops'] !== 0) scans.push(printScan(node, relation));
    if (!relation && node['Index Name'] && node['Actual Loops'] !== 0) scans.push(`(${node['Index Name']})`);
    for (const child of node.Plans ?? []) visit(child);
  };
  for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) visit(Plan);
  return [...new Set(scans)].join(', ');
}

function printScan(node: PlanNode, relation: string): string {
  const collection = relation.replace('records_', '');
  const index = node['Index Name'] ? ` by ${node['Index Name'].replace(/_[0-9a-f]{8}$/, '')}` : '';
  return `${collection}: ${node['Node Type']}${index}`;
}
