/**
 * `npm run bench -- reports`: the reports of a large school: 5,000 students, 300,000 dues, 60,000 receipts, 1,000,000 attendance records,
 * 10,000 results. Prints for each the median of warm runs, the time Postgres' process was on a processor, the target, and the shape of its plan: how each
 * collection is reached. The first line says how fast the machine is at the least thing: one record by its key.
 */
import { readFile } from 'node:fs/promises';
import Table from 'cli-table3';
import pg from 'pg';
import { pauseIndexes } from '../../src/demo/index-pause.js';
import { Prisma } from '../../src/generated/prisma/client.js';
import { reports } from '../../src/reports/registry.js';
import type { ReportServices } from '../../src/reports/report.js';
import { pageStatement } from '../../src/reports/statement.js';
import { Catalog } from '../../src/store/catalog.js';
import { type Database, openDatabase } from '../../src/store/database/database.js';
import { applyMigrations } from '../../src/store/database/migrations.js';
import { RecordStore } from '../../src/store/record-store.js';
import type { Domain, Scope } from '../../src/store/scope.js';

const SCHOOL: Domain = { id: 'bench', name: 'Bench', parentId: undefined, timeZone: 'Asia/Kolkata' };
const NOW = new Date('2027-03-31T12:00:00.000Z');
const RUNS = 7;
const COLLECTIONS = [
  'class',
  'fee_head',
  'registration',
  'fee_due',
  'fee_receipt',
  'fee_concession',
  'attendance',
  'result',
];

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
  { report: 'rolled-back-receipts', sent: { from: '2026-07-01', to: '2026-07-31' } },
  { report: 'classes-by-category', sent: { session: '2026-27' } },
  { report: 'student-attendance', sent: { admission_no: 'A-1000', start: '2026-07-01', end: '2026-07-31' } },
  { report: 'student', sent: { sequence: 'A-1000' } },
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
  const catalog = await Catalog.load({ database, directory: 'schema/collections', topDomain: () => SCHOOL });
  try {
    await seed(url);
    await printBenches(database, catalog);
  } finally {
    await catalog.close();
    await database.close();
  }
}

/** Once a database. Indexes are built from the filled tables. */
async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from records where domain = $1 limit 1', [SCHOOL.id]);
    if (rowCount !== 0) return;
    console.error('seeding 1.4 million records');
    await client.query('begin');
    const buildIndexes = await pauseIndexes(client, COLLECTIONS);
    for (const statement of SEED) await client.query(statement);
    await buildIndexes();
    await client.query('commit');
    await client.query('vacuum analyze records');
  } finally {
    await client.end();
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
    head: ['report', 'ms', 'cpu ms', 'target', 'plan'],
    colWidths: [24, 9, 9, 9, 90],
    wordWrap: true,
  });
  for (const bench of BENCHES) {
    const report = reports.find(({ name }) => name === bench.report);
    if (!report) continue;
    const statement = pageStatement(await report.statement(services, ADMIN, bench.sent), 51, undefined);
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
}

const ADMIN: Scope = {
  domain: SCHOOL,
  requestId: 'bench',
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

async function measureStatement(
  database: Database,
  statement: Prisma.Sql,
): Promise<{ ms: number; cpuMs: number }> {
  const client = await database.pool.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    await client.query(statement.text, statement.values);
    const runs: { ms: number; cpuMs: number }[] = [];
    for (let run = 0; run < RUNS; run++) {
      const [cpu, start] = [await processorMs(pid), performance.now()];
      await client.query(statement.text, statement.values);
      runs.push({ ms: performance.now() - start, cpuMs: (await processorMs(pid)) - cpu });
    }
    return { ms: median(runs.map(({ ms }) => ms)), cpuMs: median(runs.map(({ cpuMs }) => cpuMs)) };
  } finally {
    client.release();
  }
}

/** Time the process of a connection has had a processor, in steps of 10 ms; NaN where the system does not say. */
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
      Prisma.sql`select data::text from records where domain = ${SCHOOL.id} and collection = 'registration' and id = ${id}`,
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
async function planShape(database: Database, statement: Prisma.Sql): Promise<string> {
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

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function insert(collection: string, select: string): string {
  return `insert into records (domain, collection, id, data, keys) select '${SCHOOL.id}', '${collection}', ${select}`;
}

const STUDENT = `jsonb_build_object('value', 'stu-' || lpad(i::text, 5, '0'), 'label', 'Student ' || i)`;
const PLACE = `'class', (i % 12 + 1)::text, 'section', chr(65 + (i / 12) % 8)`;
const HEADS = `(array['Tuition', 'Transport', 'Computer', 'Sports', 'Library'])`;
const MONTH = `to_char(date '2026-04-01' + make_interval(months => m), 'YYYY-MM')`;
/** A fifth of the students have paid a part alone since October. */
const PAID = `case when i % 5 = 0 and m >= 6 then 500 * h else 1000 * h + 50 end`;

const SEED: readonly string[] = [
  insert(
    'class',
    `'class-' || c, jsonb_build_object('name', c::text, 'category', case when c < 6 then 'Primary' else 'Secondary' end, 'order', c, 'created_on', '2026-04-01T00:00:00.000Z',
    'sections', (select jsonb_agg(jsonb_build_object('name', chr(64 + s), 'capacity', 60)) from generate_series(1, 8) as s)), null from generate_series(1, 12) as c`,
  ),
  insert(
    'fee_head',
    `'head-' || h, jsonb_build_object('name', ${HEADS}[h], 'order', h, 'created_on', '2026-04-01T00:00:00.000Z'), null from generate_series(1, 5) as h`,
  ),
  insert(
    'registration',
    `'stu-' || lpad(i::text, 5, '0'), jsonb_build_object('sequence', 'A-' || i, 'name', 'Student ' || i, ${PLACE}, 'roll_no', i / 96 + 1,
    'gender', case i % 2 when 0 then 'male' else 'female' end, 'dob', '2015-09-14', 'father_name', 'Rajesh Sharma', 'mother_name', 'Sunita Sharma', 'guardian_phone', '+9198' || lpad(i::text, 8, '0'),
    'address', '14, Gandhi Road, Nagpur, Maharashtra 440010', 'session', '2026-27', 'admitted_on', '2021-04-01', 'status', 'active', 'created_on', '2021-04-01T00:00:00.000Z'), null
    from generate_series(1, 5000) as i`,
  ),
  insert(
    'fee_due',
    `'due-' || i || '-' || m || '-' || h, jsonb_build_object('student', ${STUDENT}, ${PLACE}, 'session', '2026-27', 'month', ${MONTH}, 'fee_head', ${HEADS}[h],
    'amount', 1000 * h + 50, 'due_date', ${MONTH} || '-10', 'created_on', '2026-04-01T00:00:00.000Z'), null
    from generate_series(0, 11) as m, generate_series(1, 5000) as i, generate_series(1, 5) as h`,
  ),
  insert(
    'fee_receipt',
    `'rec-' || i || '-' || m, jsonb_build_object('receipt_no', 'R-' || (m * 5000 + i), 'date', ${MONTH} || to_char(i % 25 + 1, 'FM"-"00') || 'T06:00:00.000Z', 'student', ${STUDENT}, ${PLACE},
    'session', '2026-27', 'payment_type', (array['cash', 'cheque', 'card', 'neft'])[i % 4 + 1],
    'lines', (select jsonb_agg(jsonb_build_object('fee_head', ${HEADS}[h], 'month', ${MONTH}, 'amount', ${PAID})) from generate_series(1, 5) as h),
    'total', (select sum(${PAID}) from generate_series(1, 5) as h), 'collected_by', jsonb_build_object('value', 'usr-accountant', 'label', 'Meena Iyer'), 'status', 'active',
    'created_on', '2026-04-01T00:00:00.000Z'), null
    from generate_series(0, 11) as m, generate_series(1, 5000) as i`,
  ),
  insert(
    'fee_concession',
    `'con-' || i, jsonb_build_object('name', ${STUDENT}, 'fee_head', 'Tuition', 'kind', 'percent', 'value', 25, 'session', '2026-27', 'from_month', '2026-04', 'to_month', '2027-03',
    'type', 'sibling', 'created_on', '2026-04-01T00:00:00.000Z'), null from generate_series(1, 5000, 10) as i`,
  ),
  // 200 school days, Sundays left out.
  insert(
    'attendance',
    `'att-' || d || '-' || i, jsonb_build_object('created', to_char(day, 'YYYY-MM-DD') || 'T03:05:00.000Z', 'student', ${STUDENT}, ${PLACE},
    'status', case when (i + d) % 13 = 0 then 'absent' when (i + d) % 37 = 0 then 'late' else 'present' end, 'marked_by', jsonb_build_object('value', 'usr-teacher', 'label', 'Kavita Joshi'),
    'created_on', to_char(day, 'YYYY-MM-DD') || 'T03:05:00.000Z'), jsonb_build_object('student_day', '["stu-' || lpad(i::text, 5, '0') || '","' || to_char(day, 'YYYY-MM-DD') || '"]')
    from (select row_number() over (order by day) as d, day from generate_series(date '2026-04-01', date '2027-03-31', interval '1 day') as day where extract(isodow from day) < 7 limit 200) as days,
      generate_series(1, 5000) as i`,
  ),
  insert(
    'result',
    `'res-' || term || '-' || i, jsonb_build_object('session', '2026-27', 'term', term, 'admission_no', 'A-' || i, 'student', ${STUDENT}, ${PLACE}, 'published', true,
    'subjects', (select jsonb_agg(jsonb_build_object('subject', 'Subject ' || s, 'components', jsonb_build_array(
      jsonb_build_object('name', 'Written', 'max', 80, 'weight', 80, 'marks', 20 + (i * s) % 60, 'state', 'scored'),
      jsonb_build_object('name', 'Oral', 'max', 20, 'weight', 20, 'marks', (i + s) % 21, 'state', 'scored')))) from generate_series(1, 6) as s),
    'created_on', '2026-10-01T00:00:00.000Z'), null
    from unnest(array['halfyear', 'finalyear']) as term, generate_series(1, 5000) as i`,
  ),
];
