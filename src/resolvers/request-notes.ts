/**
 * What shows of a request while it is answered: told by who finds it out, read by who logs and answers it.
 */
import type { ErrorCode } from '../errors.js';
import type { EndedStatement, StatementCaller } from '../model/statement-caller.js';

const NO_HINTS: readonly string[] = [];
/** Callers make up names without end. */
const MAX_HINTS = 10;

export class RequestNotes {
  #operation: string | undefined;
  #errorCode: ErrorCode | undefined;
  #cost: number | undefined;
  #hints: readonly string[] = NO_HINTS;
  #onStatement: StatementCaller['onStatement'];
  #onDuration: StatementCaller['onDuration'];
  #onWritten: ((position: string) => void) | undefined;

  constructor(operation: string | undefined) {
    this.#operation = operation;
  }

  /** What the request does, in a word: the name of a GraphQL operation, else the template of the route. */
  get operation(): string | undefined {
    return this.#operation;
  }

  /** The code of the error it was answered with. */
  get errorCode(): ErrorCode | undefined {
    return this.#errorCode;
  }

  /** What the GraphQL operation costs; of several in one request, all together. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** What may be a mistake, though it is no error. */
  get hints(): readonly string[] {
    return this.#hints;
  }

  /** Hears of every statement that runs for the request. `undefined`: nobody wants to know. */
  get onStatement(): StatementCaller['onStatement'] {
    return this.#onStatement;
  }

  /** Hears how long each of them took, and nothing else of it. `undefined`: nobody wants to know. */
  get onDuration(): StatementCaller['onDuration'] {
    return this.#onDuration;
  }

  /** The request has written; the position is where in the log of the primary. */
  noteWritten(position: string): void {
    this.#onWritten?.(position);
  }

  /** The listener hears from now on of every write of the request, where there are replicas. */
  watchWrites(listener: (position: string) => void): void {
    this.#onWritten = listener;
  }

  noteOperation(name: string): void {
    this.#operation = name;
  }

  noteError(code: ErrorCode): void {
    this.#errorCode = code;
  }

  noteCost(cost: number): void {
    this.#cost = (this.#cost ?? 0) + cost;
  }

  hint(hint: string): void {
    if (this.#hints.length < MAX_HINTS && !this.#hints.includes(hint)) this.#hints = [...this.#hints, hint];
  }

  /**
   * The listener hears from now on of every statement of the request that has ended, beside those before it.
   */
  watchStatements(listener: (statement: EndedStatement) => void): void {
    const before = this.#onStatement;
    this.#onStatement = (statement) => {
      before?.(statement);
      listener(statement);
    };
  }
  /** The listener hears from now on how long every statement took that was for the request. */
  watchDurations(listener: (durationMs: number) => void): void {
    this.#onDuration = listener;
  }
}
