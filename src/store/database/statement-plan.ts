/** How Postgres runs a statement: its plan in lines, and the parts that show whether an index served. */

import { defined } from '../../base/json/json.js';
import type { Call, SqlText } from '../../base/model/call.js';
import { Sql, sql } from '../sql.js';
import type { Database } from './database.js';

export interface StatementPlan {
  /**
   * A line a node, indented as it nests: what it does, to which table, by which index, with how many rows.
   */
  readonly lines: readonly string[];
  /** The indexes that serve it; none: every row is looked at. */
  readonly indexes: readonly string[];
  readonly scans: readonly PlanScan[];
  /** The sort keys where no index gives the order, as Postgres prints them. */
  readonly sortKeys: readonly string[];
}

/** A table that is read. */
export interface PlanScan {
  readonly table: string;
  /** The condition of the index, as Postgres prints it; empty without one. */
  readonly condition: string;
  /** The filter applied row by row, after an index if there is one, as Postgres prints it. */
  readonly filter: string;
}

/** The caller of the statements that read plans, which are not reported to listeners themselves. */
export const PLANNING: Call = { requestId: 'plan' };

/**
 * `run`: with the rows and times of a run of it, for statements that only read. `guess`: as it would be run.
 */
export type PlanDepth = 'run' | 'guess';

/**
 * Asks Postgres for the plan with the values of the statement, in a transaction that may not write.
 *
 * @throws ServiceError as the statement itself would
 */
export async function readPlan(
  database: Pick<Database, 'transaction'>,
  statement: SqlText,
  depth: PlanDepth,
): Promise<StatementPlan> {
  const options = sql.raw(depth === 'run' ? 'analyze, timing off, format json' : 'format json');
  return await database.transaction(async (transaction) => {
    await transaction.query(sql`set transaction read only`, { call: PLANNING });
    const [row] = await transaction.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>(
      sql`explain (${options}) ${new Sql(statement.strings, statement.values)}`,
      { call: PLANNING },
    );
    const nodes = listNodes(row?.['QUERY PLAN'][0]?.Plan, 0);
    return {
      lines: nodes.map(printNode),
      indexes: [...new Set(nodes.flatMap(({ node }) => node['Index Name'] ?? []))],
      scans: nodes.flatMap(({ node }) => {
        const table = node['Relation Name'];
        return table === undefined
          ? []
          : [{ table, condition: node['Index Cond'] ?? '', filter: node.Filter ?? '' }];
      }),
      sortKeys: nodes.flatMap(({ node }) => node['Sort Key'] ?? []),
    };
  });
}

/** @see https://www.postgresql.org/docs/current/sql-explain.html */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly 'Plan Rows': number;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
  /** On Citus: the plans of the parts that run elsewhere, on other servers or before the others. */
  readonly 'Distributed Query'?: {
    readonly Subplans?: readonly { readonly PlannedStmt: RemotePlans }[];
    readonly Job: { readonly Tasks?: readonly { readonly 'Remote Plan'?: RemotePlans }[] };
  };
}

type RemotePlans = readonly (PlannedPart | readonly PlannedPart[])[];

interface PlannedPart {
  readonly Plan: PlanNode;
}

/** The number of a shard at the end of a name. */
const SHARD = /_[0-9]+$/;

interface PlacedNode {
  readonly node: PlanNode;
  readonly depth: number;
}

function listNodes(node: PlanNode | undefined, depth: number): readonly PlacedNode[] {
  if (!node) return [];
  const ofShards = partsOf(node).flatMap((part) => listNodes(part, depth + 1).map(withoutShard));
  return [
    { node, depth },
    ...(node.Plans ?? []).flatMap((child) => listNodes(child, depth + 1)),
    ...ofShards,
  ];
}

function partsOf({ 'Distributed Query': distributed }: PlanNode): readonly PlanNode[] {
  if (distributed === undefined) return [];
  const { Subplans = [], Job } = distributed;
  const plans: readonly RemotePlans[] = [
    ...Subplans.map(({ PlannedStmt }) => PlannedStmt),
    ...(Job.Tasks ?? []).map((task) => task['Remote Plan'] ?? []),
  ];
  return plans.flat(2).map(({ Plan }) => Plan);
}

/** The tables and indexes of a shard are named like the distributed ones, with the shard's number added. */
function withoutShard({ node, depth }: PlacedNode): PlacedNode {
  const names = defined({
    'Relation Name': node['Relation Name']?.replace(SHARD, ''),
    'Index Name': node['Index Name']?.replace(SHARD, ''),
  });
  return { node: { ...node, ...names }, depth };
}

function printNode({ node, depth }: PlacedNode): string {
  const table = node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`;
  const index = node['Index Name'] === undefined ? '' : ` using ${node['Index Name']}`;
  const removed = node['Rows Removed by Filter'];
  const details = [
    node['Actual Rows'] === undefined
      ? `about ${node['Plan Rows']} rows`
      : `${node['Actual Rows']} rows${node['Actual Loops'] === 1 ? '' : ` × ${node['Actual Loops']}`}`,
    ...(removed === undefined || removed === 0 ? [] : [`${removed} looked at in vain`]),
    ...(node['Index Cond'] === undefined ? [] : [`by ${node['Index Cond']}`]),
    ...(node.Filter === undefined ? [] : [`filter ${node.Filter}`]),
    ...(node['Sort Key'] === undefined ? [] : [`by ${node['Sort Key'].join(', ')}`]),
  ];
  return `${'  '.repeat(depth)}${node['Node Type']}${index}${table}: ${details.join('; ')}`;
}
