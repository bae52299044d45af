/** Notes on a request while it is answered, for the log and the answer. */
import type { ErrorCode } from '../../base/errors.js';
import type { Call, EndedStatement } from '../../base/model/call.js';

/** Limited, because callers can make up any number of names. */
const MAX_HINTS = 10;

export class RequestNotes {
  /** The code of the error it was answered with. */
  errorCode: ErrorCode | undefined;
  /** The cost of the GraphQL operation; of a batch, the sum. */
  cost: number | undefined;
  /** Possible mistakes that are not errors. */
  hints: readonly string[] = [];
  /** Receives every statement of the request. `undefined`: no listener. */
  onStatement: Call['onStatement'];
  /** Receives only the duration of each statement. `undefined`: no listener. */
  onDuration: Call['onDuration'];
  /** Receives the position of every write of the request in the log of the primary, if there are replicas. */
  onWritten: ((position: string) => void) | undefined;

  /** `operation` is the name of a GraphQL operation, else the route template. */
  constructor(public operation: string | undefined) {}

  noteWritten(position: string): void {
    this.onWritten?.(position);
  }

  hint(hint: string): void {
    if (this.hints.length < MAX_HINTS && !this.hints.includes(hint)) this.hints = [...this.hints, hint];
  }

  /** Adds a listener for every statement of the request that ends from now on. */
  watchStatements(listener: (statement: EndedStatement) => void): void {
    const before = this.onStatement;
    this.onStatement = (statement) => {
      before?.(statement);
      listener(statement);
    };
  }
}
