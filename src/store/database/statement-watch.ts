/**
 * Tells who hears of the statements that run, and how long they took. Nothing is measured where nobody does.
 */

import type { EndedStatement, StatementCaller } from '../../base/model/statement-caller.js';
import { guarded } from '../../base/process/guarded.js';
import { isTraced, noteSpan, type Traced } from '../../base/process/traced.js';
import type { Sql } from '../sql.js';

/** Receives slow statements of all callers. */
export interface SlowStatementWatch {
  readonly thresholdMs: number;
  readonly onSlow: (statement: EndedStatement, caller: StatementCaller | undefined) => void;
}

/** Runs a statement and tells who wants to know. */
export async function watched<Row>(
  sql: Sql,
  watch: { readonly caller: StatementCaller | undefined; readonly slow: SlowStatementWatch | undefined },
  run: () => Promise<Row[]>,
): Promise<Row[]> {
  const { caller, slow } = watch;
  const { onStatement, onDuration } = caller ?? {};
  const isPartOfTrace = isTraced();
  const isHeard = onStatement !== undefined || onDuration !== undefined;
  if (!isHeard && slow === undefined && !isPartOfTrace) return await run();
  const startedAt = performance.now();
  let rowCount = 0;
  let failure: unknown;
  try {
    const rows = await run();
    rowCount = rows.length;
    return rows;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    if (isPartOfTrace) noteSpan(spanOf(sql, rowCount), { startedAt, error: failure });
    const ended = { sql, durationMs: performance.now() - startedAt, rowCount };
    // Thrown from here, an error would take the place of the statement's own answer.
    if (onStatement !== undefined) guarded(onStatement)(ended);
    if (onDuration !== undefined) guarded(onDuration)(ended.durationMs);
    if (slow !== undefined && ended.durationMs >= slow.thresholdMs) guarded(slow.onSlow)(ended, caller);
  }
}

/** Enough to tell statements background: to copy and to send more would be most of what tracing costs. */
const MAX_TRACED_TEXT = 500;

/** The text alone: what was sent is in parameters, and told to nobody. */
function spanOf({ text }: Sql, rowCount: number): Traced {
  const operation = /[a-z]+/i.exec(text)?.[0]?.toLowerCase() ?? 'statement';
  return {
    name: `postgresql ${operation}`,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': text.slice(0, MAX_TRACED_TEXT).replace(/\s+/g, ' ').trim(),
      'db.response.returned_rows': rowCount,
    },
  };
}
