/**
 * Notes on a request while it is answered, written by whoever learns them and read by the log and the answer.
 */
import type { ErrorCode } from '../../base/errors.js';
import type { EndedStatement, StatementCaller } from '../../base/model/statement-caller.js';

const NO_HINTS: readonly string[] = [];
/** Limited, because callers can make up any number of names. */
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

  /** What the request does, in a word: the name of a GraphQL operation, else the route template. */
  get operation(): string | undefined {
    return this.#operation;
  }

  /** The code of the error it was answered with. */
  get errorCode(): ErrorCode | undefined {
    return this.#errorCode;
  }

  /** The cost of the GraphQL operation; of a batch, the sum. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** Possible mistakes that are not errors. */
  get hints(): readonly string[] {
    return this.#hints;
  }

  /** Receives every statement of the request. `undefined`: nobody listens. */
  get onStatement(): StatementCaller['onStatement'] {
    return this.#onStatement;
  }

  /** Receives only the duration of each statement. `undefined`: nobody listens. */
  get onDuration(): StatementCaller['onDuration'] {
    return this.#onDuration;
  }

  /** Records that the request has written, with the position in the log of the primary. */
  noteWritten(position: string): void {
    this.#onWritten?.(position);
  }

  /** From now on, calls the listener for every write of the request, if there are replicas. */
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

  /** From now on, calls the listener, beside earlier ones, for every statement of the request that ends. */
  watchStatements(listener: (statement: EndedStatement) => void): void {
    const before = this.#onStatement;
    this.#onStatement = (statement) => {
      before?.(statement);
      listener(statement);
    };
  }
  /** From now on, calls the listener with the duration of every statement of the request. */
  watchDurations(listener: (durationMs: number) => void): void {
    this.#onDuration = listener;
  }
}
