/** The latest slow statements of this process, for admins; the log has all of them. */
import type { SlowStatement } from './slow-statements.js';

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
