/** How many rows the statements of a request read, as PostgreSQL counts them, on a school of many records. */
import type pg from 'pg';
import type { Gateway } from './gateway.js';

/** A statement that was run, with the rows that its scans read: those kept and those removed by a filter. */
export interface RanStatement {
  readonly text: string;
  readonly rows: number;
  readonly plan: string;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The purge runs at a minute of every hour, and reads everything. */
const PURGE = /^with (?:kept|purged|tombstones) as/;

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_parameter_max_length': '0',
  'auto_explain.log_format': 'json',
};

/** From the next connection on, the server's log has every statement of the database with its plan. */
export async function explainAll(sql: pg.Pool | pg.Client, more: Readonly<Record<string, string>> = {}) {
  const { rows } = await sql.query('select current_database() as name');
  // The library's settings are known only where it is loaded.
  await sql.query(`load 'auto_explain'`);
  for (const [name, value] of Object.entries({ ...SETTINGS, ...more })) {
    await sql.query(`alter database ${rows[0].name} set ${name} = '${value}'`);
  }
}

/** The statements of the database that end while the work runs. */
export async function statementsOf(
  gateway: Pick<Gateway, 'sql'>,
  work: () => Promise<unknown>,
): Promise<readonly RanStatement[]> {
  const log = `current_setting('data_directory') || '/server.log'`;
  const { rows: before } = await gateway.sql.query(
    `select (pg_stat_file(${log})).size, current_database() as name`,
  );
  await work();
  const { rows } = await gateway.sql.query(
    `select pg_read_file(${log}, $1, (pg_stat_file(${log})).size - $1) as lines`,
    [before[0].size],
  );
  return entriesOf(rows[0].lines, before[0].name).flatMap((entry) => {
    const { 'Query Text': written, Plan: plan } = JSON.parse(entry) as {
      'Query Text': string;
      Plan: PlanNode;
    };
    const text = written.replaceAll(/\s+/g, ' ').trim();
    return PURGE.test(text) ? [] : [{ text, rows: rowsRead(plan), plan: outlineOf(plan) }];
  });
}

/** The plans in the log: each follows a line that begins with the time, the process and the database. */
function entriesOf(log: string, database: string): readonly string[] {
  return log
    .split(/^(?=\d{4}-\d\d-\d\d [\d:.]+ UTC \[\d+\] )/m)
    .filter((entry) => entry.includes(`] ${database} LOG:`) && entry.includes('plan:\n'))
    .map((entry) => entry.slice(entry.indexOf('plan:\n') + 'plan:\n'.length));
}

function rowsRead(node: PlanNode): number {
  const isScan =
    node['Node Type'] === 'Bitmap Index Scan' ||
    (node['Node Type'].endsWith('Scan') && node['Relation Name'] !== undefined);
  const each =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isScan ? each * (node['Actual Loops'] ?? 1) : 0;
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsRead(inner), own);
}

function outlineOf(node: PlanNode, indent = ''): string {
  const line =
    `${indent}${node['Node Type']} ${node['Index Name'] ?? node['Relation Name'] ?? ''} ` +
    `rows=${node['Actual Rows']} removed=${node['Rows Removed by Filter'] ?? 0} ` +
    `loops=${node['Actual Loops']}`;
  return [line, ...(node.Plans ?? []).map((inner) => outlineOf(inner, `${indent}  `))].join('\n');
}
