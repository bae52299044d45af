/**
 * How long the parts of an answer took, for the header `Server-Timing`.
 * @see https://www.w3.org/TR/server-timing/
 */

export type TimedPart = 'parse' | 'validate' | 'execute';

/** One for each HTTP request; the operations of a batch add up. */
export class OperationTiming {
  readonly #parts: Record<TimedPart, number> = { parse: 0, validate: 0, execute: 0 };
  #databaseMs = 0;
  #statements = 0;

  /** Call what it gives when the part has ended. */
  start(part: TimedPart): () => void {
    const startedAt = performance.now();
    return () => {
      this.#parts[part] += performance.now() - startedAt;
    };
  }

  addStatement(durationMs: number): void {
    this.#databaseMs += durationMs;
    this.#statements += 1;
  }

  /**
   * The value of the header. `db` is a part of `execute`; statements side by side add up to more than that. A
   * document sent again is neither parsed nor validated.
   */
  print(): string {
    const { parse, validate, execute } = this.#parts;
    const read = parse + validate > 0 ? `parse;dur=${ms(parse)}, validate;dur=${ms(validate)}, ` : '';
    return (
      `${read}execute;dur=${ms(execute)}, db;dur=${ms(this.#databaseMs)};desc="${this.#statements} ` +
      'statements"'
    );
  }
}

function ms(duration: number): string {
  return duration.toFixed(2);
}
