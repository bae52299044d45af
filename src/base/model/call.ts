/** One call of the service: a request, a job, or a step of one of them. */
import type { EndSignal } from './end-signal.js';

/**
 * A call, apart from who makes it (the `Scope`): its name in logs, its end, and what listens to it. A part of
 * a call that differs is a new value; the listeners are never copied without it.
 */
export interface Call {
  /** Also the `requestId` in the log, the history and the answer. */
  readonly requestId: string;
  /** The name of the GraphQL operation, or the template of the route. */
  readonly operation?: string | undefined;
  /** Ends the work when the caller has gone. */
  readonly signal?: EndSignal;
  /**
   * Refuses to continue long work once the caller has lost its credential or any right since the work began.
   * Whatever sends or stores something long after the first check of rights calls it before each step.
   */
  readonly assertRights?: (() => Promise<void>) | undefined;
  /** Receives hints at possible mistakes that are not errors, e.g. a field that is not declared. */
  readonly onHint?: ((hint: string) => void) | undefined;
  /** Receives the statements that run only for this call. */
  readonly onStatement?: ((statement: EndedStatement) => void) | undefined;
  /** Receives the duration of each statement for this call, including shared statements. */
  readonly onDuration?: ((durationMs: number) => void) | undefined;
  /** Receives the position of the call's write in the log of the primary, if there are replicas. */
  readonly onWritten?: ((position: string) => void) | undefined;
  /**
   * Called when the request starts to wait in another queue, or begins long work: from then on it needs no
   * permit of admission control.
   */
  readonly onWait?: (() => void) | undefined;
  /** The depth of nested scripts that make the call; absent: none. */
  readonly scriptDepth?: number;
  /** A script answers a query: it may change nothing. */
  readonly readsOnly?: boolean | undefined;
}

export interface EndedStatement {
  readonly sql: SqlText;
  readonly durationMs: number;
  readonly rowCount: number;
}

/**
 * SQL as it was sent to the database. The values are between the strings, and `$1`, `$2`, … in the text.
 */
export interface SqlText {
  readonly text: string;
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}
