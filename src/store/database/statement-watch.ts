/**
 * Tells who hears of the statements that run, and how long they took. Nothing is measured where nobody does.
 */
import type { Prisma } from '../../generated/prisma/client.js';
import { guarded } from '../../guarded.js';
import type { EndedStatement, StatementCaller } from '../../model/statement-caller.js';

/** What hears of statements that took long, whoever they were for. */
export interface SlowStatementWatch {
  readonly thresholdMs: number;
  readonly onSlow: (statement: EndedStatement, caller: StatementCaller | undefined) => void;
}

/** Runs a statement and tells who wants to know. */
export async function watched<Row>(
  sql: Prisma.Sql,
  watch: { readonly caller: StatementCaller | undefined; readonly slow: SlowStatementWatch | undefined },
  run: () => Promise<Row[]>,
): Promise<Row[]> {
  const { caller, slow } = watch;
  const { onStatement } = caller ?? {};
  if (onStatement === undefined && slow === undefined) return await run();
  const startedAt = performance.now();
  let rowCount = 0;
  try {
    const rows = await run();
    rowCount = rows.length;
    return rows;
  } finally {
    const ended = { sql, durationMs: performance.now() - startedAt, rowCount };
    // Thrown from here, an error would take the place of the statement's own answer.
    if (onStatement !== undefined) guarded(onStatement)(ended);
    if (slow !== undefined && ended.durationMs >= slow.thresholdMs) guarded(slow.onSlow)(ended, caller);
  }
}
