/**
 * Reports slow statements to operators: the operation, the collections, and the index that would help. The
 * plan is read after the statement has ended, not for every occurrence, and contains no caller's values.
 */

import type { EndedStatement, StatementCaller } from '../../base/model/statement-caller.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import { PLANNING, readPlan, type StatementPlan } from '../database/statement-plan.js';
import { type IndexSuggestion, suggestIndexes } from './index-suggestion.js';

export interface SlowStatement {
  /** The id of the request; `undefined` for a task of the gateway itself. */
  readonly requestId: string | undefined;
  /** The name of the GraphQL operation, or the route template. */
  readonly operation: string | undefined;
  readonly collections: readonly string[];
  readonly durationMs: number;
  readonly rows: number;
  /** The statement, with `$1`, `$2`, … for its values. */
  readonly statement: string;
  /**
   * The tables and indexes of its plan, in order; `undefined` if the same statement was explained a moment
   * ago.
   */
  readonly plan: readonly string[] | undefined;
  readonly suggestions: readonly IndexSuggestion[];
}

export interface SlowStatementsOptions {
  readonly database: Pick<Database, 'transaction' | 'watchSlow'>;
  readonly catalog: Pick<Catalog, 'list'>;
  /** 0 disables the watch. */
  readonly thresholdMs: number;
  readonly report: (statement: SlowStatement) => void;
  /** Called when a slow statement could not be explained or reported. Must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** The same statement is explained again after this. */
const EXPLAIN_EVERY_MS = 60_000;
/** The memory of explained statements is cleared at this size; a gateway has a few hundred. */
const MAX_KNOWN = 1000;
/** Beyond this, statements are reported without a plan. */
const MAX_WAITING = 10;
/** Statements of reports have some four thousand characters, and are useful only as a whole. */
const MAX_STATEMENT_LENGTH = 10_000;

/** Watches from now on, for as long as the database is open. */
export function watchSlowStatements(options: SlowStatementsOptions): void {
  const { database, thresholdMs, report } = options;
  if (thresholdMs === 0) return;
  const explainedAt = new Map<string, number>();
  // One after the other: a slow database should not get more work.
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
        // Without a handler, a failure would end the process, and later statements would not be reported.
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
  // A statement that cannot be explained, e.g. `set`, is reported all the same.
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

/** Every statement on records names its collections as literals, for the planner. */
function collectionsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/collection = '(\w+)'/g)].map(([, name = '']) => name))];
}

function scanLine(table: string, plan: StatementPlan): string {
  const line = plan.lines.find((one) => one.includes(` on ${table}:`)) ?? table;
  return line.trim().replace(/:.*$/s, '');
}
