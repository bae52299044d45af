/**
 * Reports slow statements to operators: the operation, the collections, and the index that would help. The
 * plan is read after the statement has ended, not for every occurrence, and contains no caller's values.
 */

import type { Call, EndedStatement } from '../../base/model/call.js';
import type { Collection, Field } from '../../base/model/collection.js';
import type { Path } from '../../base/model/path.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Database } from '../database/database.js';
import { findValue } from '../database/declared-indexes.js';
import { partitionName } from '../database/partitions.js';
import { PLANNING, readPlan, type StatementPlan } from '../database/statement-plan.js';

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
    onSlow: (ended, call) => {
      if (call === PLANNING) return;
      const { text } = ended.sql;
      const now = performance.now();
      const last = explainedAt.get(text) ?? Number.NEGATIVE_INFINITY;
      if (now - last < EXPLAIN_EVERY_MS || waiting >= MAX_WAITING) {
        report(describe(ended, call));
        return;
      }
      if (explainedAt.size >= MAX_KNOWN) explainedAt.clear();
      explainedAt.set(text, now);
      waiting += 1;
      explaining = explaining
        .then(async () => report(await explain(ended, call, options)))
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
  call: Call | undefined,
  { database, catalog }: SlowStatementsOptions,
): Promise<SlowStatement> {
  // A statement that cannot be explained, e.g. `set`, is reported all the same.
  const plan = await readPlan(database, ended.sql, 'guess').catch(() => undefined);
  return {
    ...describe(ended, call),
    plan: plan?.scans.map((scan) => scanLine(scan.table, plan)),
    suggestions: plan ? suggestIndexes(plan, catalog.list()) : [],
  };
}

function describe({ sql, durationMs, rowCount }: EndedStatement, call: Call | undefined): SlowStatement {
  return {
    requestId: call?.requestId,
    operation: call?.operation,
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

/** Suggests a declared index that would serve a statement, based on the plan Postgres chose without one. */
export interface IndexSuggestion {
  readonly collection: string;
  /**
   * The entry for its declaration, e.g. `"indexes": [["class", "created"]]`, or `"index": true on the field
   * class`.
   */
  readonly declaration: string;
}

/** A wider index would amount to a table of its own. */
const MAX_PATHS = 3;

/** At most one per collection; none if every path is served, or cannot be. */
export function suggestIndexes(
  plan: Pick<StatementPlan, 'scans' | 'sortKeys'>,
  collections: readonly Collection[],
): readonly IndexSuggestion[] {
  const [first] = plan.scans;
  return collections.flatMap((collection): readonly IndexSuggestion[] => {
    const table = partitionName(collection.name);
    const scans = plan.scans.filter((scan) => scan.table === table);
    if (scans.length === 0) return [];
    const filtered = pathsIn(scans.map(({ filter }) => filter).join(' '), collection);
    const indexed = pathsIn(scans.map(({ condition }) => condition).join(' '), collection);
    // The sort keys are those of the outermost table.
    const sortKeys = plan.sortKeys.filter((key) => PLAIN_SORT_KEY.test(key));
    const sorted = first?.table === table ? pathsIn(sortKeys.join(' '), collection) : NONE;
    const declaration = declarationFor({ filtered, indexed, sorted });
    return declaration === undefined ? [] : [{ collection: collection.name, declaration }];
  });
}

interface ComparedPaths {
  /** Paths compared by whole values, which a b-tree serves. */
  readonly values: readonly DeclaredPath[];
  /** Paths compared by a part of their text, which trigrams serve. */
  readonly texts: readonly DeclaredPath[];
}

interface DeclaredPath {
  /** The name in `indexes`, e.g. `student.value`. */
  readonly name: string;
  readonly field: Field;
  readonly isTopLevel: boolean;
}

const NONE: ComparedPaths = { values: [], texts: [] };

/** `filtered` paths are tested row by row, `indexed` by an existing index, and `sorted` afterwards. */
function declarationFor(paths: {
  readonly filtered: ComparedPaths;
  readonly indexed: ComparedPaths;
  readonly sorted: ComparedPaths;
}): string | undefined {
  const { filtered, indexed, sorted } = paths;
  const text = filtered.texts.find(({ field, isTopLevel }) => isTopLevel && !field.isSearchable);
  if (text) return `"searchable": true on the field ${text.field.name}`;
  if (filtered.values.length + sorted.values.length === 0) return undefined;
  const all = [...filtered.values, ...indexed.values, ...sorted.values];
  const names = [...new Set(all.map(({ name }) => name))].slice(0, MAX_PATHS);
  if (names.length > 1) return `"indexes": [${JSON.stringify(names).replaceAll(',', ', ')}]`;
  const [only] = all;
  if (!only?.isTopLevel || only.field.isIndexed || only.field.isUnique) return undefined;
  return `"index": true on the field ${only.field.name}`;
}

/**
 * `(data -> 'student'::text) -> 'value'::text`, as Postgres prints a path; the last step to a text is `->>`.
 */
const STEPS = /data(?:\)*\s*->>?\s*'(?:[^']|'')*'::text)+\)*(\s*(?:~~\*?|!~~\*?)\s)?/g;
/** A stored value; no index has the order of a computed one, e.g. of groups. */
const PLAIN_SORT_KEY =
  /^\(*(?:\w+\.)?data(?:\)*\s*->>?\s*'(?:[^']|'')*'::text)+\)*(?: (?:DESC|ASC|NULLS|FIRST|LAST))*$/;
const STEP = /->>?\s*'((?:[^']|'')*)'::text/g;

function pathsIn(expression: string, collection: Collection): ComparedPaths {
  const values: DeclaredPath[] = [];
  const texts: DeclaredPath[] = [];
  for (const [steps, pattern] of expression.matchAll(STEPS)) {
    const path = [...steps.matchAll(STEP)].map(([, name = '']) => name.replaceAll("''", "'"));
    const declared = findDeclared(path, collection);
    if (declared) (pattern === undefined ? values : texts).push(declared);
  }
  return { values, texts };
}

/** Lists, their contents and undeclared fields are served by the index over whole documents. */
function findDeclared(path: Path, { fields }: Collection): DeclaredPath | undefined {
  const found = findValue(fields, path);
  return (
    found && {
      name: path.join('.'),
      field: found.field,
      isTopLevel: path.length - found.members.length === 1,
    }
  );
}

/** The latest slow statements of this process, for admins; the log has all of them. */
export interface NotedSlowStatement extends SlowStatement {
  readonly at: Date;
}

const MOST_KEPT = 50;

export class RecentSlowStatements {
  #statements: readonly NotedSlowStatement[] = [];

  note(statement: SlowStatement): void {
    this.#statements = [{ ...statement, at: new Date() }, ...this.#statements].slice(0, MOST_KEPT);
  }

  /** Newest first; only those of this process. */
  list(): readonly NotedSlowStatement[] {
    return this.#statements;
  }
}
