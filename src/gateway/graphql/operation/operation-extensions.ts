/**
 * Optional `extensions` of an answer: `cost`, and for admins `explain`. Requested by `extensions: {cost:
 * true}` in the request, or by the header `X-Include-Extensions: cost, explain`.
 */
import { ServiceError } from '../../../base/errors.js';
import type { EndedStatement } from '../../../base/model/call.js';
import { isAdmin } from '../../../store/access/access.js';
import type { Database } from '../../../store/database/database.js';
import { type PlanDepth, readPlan, type StatementPlan } from '../../../store/database/statement-plan.js';
import { type RequestContext, requireScope } from '../../resolvers/request-context.js';
import type { RequestNotes } from '../../resolvers/request-notes.js';
import type { GraphqlRequest } from './prepared-operation.js';

export type ExtensionName = 'cost' | 'explain';

/** Whether a request wants the extension. */
export function wantsOperationExtension(
  name: ExtensionName,
  request: Pick<GraphqlRequest, 'includeHeader'> & {
    readonly extensions: Readonly<Record<string, unknown>>;
  },
): boolean {
  if (request.extensions[name] === true) return true;
  const { includeHeader } = request;
  return includeHeader?.split(',').some((wanted) => wanted.trim() === name) ?? false;
}

/**
 * @throws UNAUTHENTICATED, FORBIDDEN: a plan discloses records the caller may not see, and the database's
 *   structure
 */
export function assertMayExplain(context: RequestContext): void {
  const { principal } = requireScope(context);
  if (isAdmin(principal)) return;
  throw new ServiceError(
    'FORBIDDEN',
    'Explaining an operation is for admins, signed in and not by an API key.',
  );
}

/** A statement in `extensions.explain`. */
export interface ExplainedStatement {
  readonly sql: string;
  /** In the order of `$1`, `$2`, …; long values are cut. */
  readonly parameters: readonly unknown[];
  /** The duration of the run that produced the answer. */
  readonly durationMs: number;
  readonly rows: number;
  readonly plan: readonly string[];
  readonly indexes: readonly string[];
}

/** An operation that graphql-js executes field by field may run more. */
const MAX_EXPLAINED = 20;
const MAX_PARAMETER_LENGTH = 200;

/** Records the statements of a request, and explains them after it is answered. */
export class Explanation {
  readonly #statements: EndedStatement[] = [];

  constructor(notes: Pick<RequestNotes, 'watchStatements'>) {
    notes.watchStatements((statement) => {
      if (this.#statements.length < MAX_EXPLAINED) this.#statements.push(statement);
    });
  }

  /** Runs each statement of a query a second time to get its actual plan; a write is only planned. */
  async explain(
    database: Pick<Database, 'transaction'>,
    depth: PlanDepth,
  ): Promise<readonly ExplainedStatement[]> {
    const explained: ExplainedStatement[] = [];
    for (const { sql, durationMs, rowCount } of this.#statements) {
      const { lines, indexes } = await readPlan(database, sql, depth).catch(withoutPlan);
      explained.push({
        sql: sql.text.trim(),
        parameters: sql.values.map(SECRET_TABLES.test(sql.text) ? () => '[redacted]' : shownValue),
        durationMs: Math.round(durationMs * 1000) / 1000,
        rows: rowCount,
        plan: lines,
        indexes,
      });
    }
    return explained;
  }
}

/** A statement is worth showing even without its plan. */
function withoutPlan(reason: unknown): Pick<StatementPlan, 'lines' | 'indexes'> {
  return {
    lines: [`no plan: ${reason instanceof ServiceError ? reason.message : 'it failed'}`],
    indexes: [],
  };
}

/** Tables that contain secrets, or values derived from them. */
const SECRET_TABLES = /\b(?:credentials|sessions|refresh_tokens|api_keys|settings)\b/;

function shownValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  if (Array.isArray(value)) return value.slice(0, 20).map(shownValue);
  if (typeof value !== 'string' || value.length <= MAX_PARAMETER_LENGTH) return value;
  return `${value.slice(0, MAX_PARAMETER_LENGTH)}… (${value.length} characters)`;
}
