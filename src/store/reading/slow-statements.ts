/**
 * What operators are told of statements that took long: for which operation, over which collections, and
 * which index would help. The plan is asked for once the statement is over, seldom, and holds no value of a
 * caller.
 */

import type { EndedStatement, StatementCaller } from '../../model/statement-caller.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import { PLANNING, readPlan, type StatementPlan } from '../database/statement-plan.js';
import { type IndexSuggestion, suggestIndexes } from './index-suggestion.js';

export interface SlowStatement {
  /** The id of the request it ran for; `undefined`: a task of the gateway itself. */
  readonly requestId: string | undefined;
  /** The name of the GraphQL operation, or the template of the route. */
  readonly operation: string | undefined;
  readonly collections: readonly string[];
  readonly durationMs: number;
  readonly rows: number;
  /** The statement, with `$1`, `$2`, … for its values. */
  readonly statement: string;
  /**
   * The tables and indexes of its plan, in order; `undefined`: not asked for, the same statement was told of
   * a moment ago.
   */
  readonly plan: readonly string[] | undefined;
  readonly suggestions: readonly IndexSuggestion[];
}

export interface SlowStatementsOptions {
  readonly database: Pick<Database, 'transaction' | 'watchSlow'>;
  readonly catalog: Pick<Catalog, 'list'>;
  /** 0: nothing is watched. */
  readonly thresholdMs: number;
  readonly report: (statement: SlowStatement) => void;
  /** Told when a slow statement could not be explained or reported. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** The same statement is explained again after this. */
const EXPLAIN_EVERY_MS = 60_000;
/** The memory is emptied when as many are known: a gateway has a few hundred. */
const MAX_KNOWN = 1000;
/** More are told of without a plan. */
const MAX_WAITING = 10;
/** Those of reports have some four thousand characters: to be understood they have to be whole. */
const MAX_STATEMENT_LENGTH = 10_000;

/** Watches from now on, for as long as the database is open. */
export function watchSlowStatements(options: SlowStatementsOptions): void {
  const { database, thresholdMs, report } = options;
  if (thresholdMs === 0) return;
  const explainedAt = new Map<string, number>();
  // One after the other: a database that is slow already has no use for more to do.
  let explaining = Promise.resolve();
  let waiting = 0;
  database.watchSlow({
    thresholdMs,
    onSlow: (ended, caller) => {
      if (caller === PLANNING) return;
      const { text } = ended.sql;
      const now = performance.now();
      const last = explainedAt.get(text) ?? Number.NEGATIVE_INFINITY;
      if (now - last < EXPLAIN_EVERY_MS || waiting >= MAX_WAITING) {
        report(describe(ended, caller));
        return;
      }
      if (explainedAt.size >= MAX_KNOWN) explainedAt.clear();
      explainedAt.set(text, now);
      waiting += 1;
      explaining = explaining
        .then(async () => report(await explain(ended, caller, options)))
        // Unheard, one failure would end the process, and no statement after it would be told of.
        .catch(options.onFault)
        .finally(() => {
          waiting -= 1;
        });
    },
  });
}

async function explain(
  ended: EndedStatement,
  caller: StatementCaller | undefined,
  { database, catalog }: SlowStatementsOptions,
): Promise<SlowStatement> {
  // A statement that cannot be explained, e.g. one that sets something, is still slow.
  const plan = await readPlan(database, ended.sql, 'guess').catch(() => undefined);
  return {
    ...describe(ended, caller),
    plan: plan?.scans.map((scan) => scanLine(scan.table, plan)),
    suggestions: plan ? suggestIndexes(plan, catalog.list()) : [],
  };
}

function describe(
  { sql, durationMs, rowCount }: EndedStatement,
  caller: StatementCaller | undefined,
): SlowStatement {
  return {
    requestId: caller?.requestId,
    operation: caller?.operation,
    collections: collectionsIn(sql.text),
    durationMs: Math.round(durationMs),
    rows: rowCount,
    statement: sql.text.replace(/\s+/g, ' ').trim().slice(0, MAX_STATEMENT_LENGTH),
    plan: undefined,
    suggestions: [],
  };
}

/** Every statement on records names its collections as literals, for the planner's sake. */
function collectionsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/collection = '(\w+)'/g)].map(([, name = '']) => name))];
}

function scanLine(table: string, plan: StatementPlan): string {
  const line = plan.lines.find((one) => one.includes(` on ${table}:`)) ?? table;
  return line.trim().replace(/:.*$/s, '');
}
