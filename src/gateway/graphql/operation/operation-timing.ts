/**
 * Measures the phases of an answer for the header `Server-Timing`.
 *
 * @see https://www.w3.org/TR/server-timing/
 */

export type TimedPart = 'parse' | 'validate' | 'execute';

/** One per HTTP request; the operations of a batch add up. */
export class OperationTiming {
  readonly #parts: Record<TimedPart, number> = { parse: 0, validate: 0, execute: 0 };
  #databaseMs = 0;
  #statements = 0;

  /** Starts a phase; call the returned function at its end. */
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
   * The value of the header. `db` is a part of `execute`, but concurrent statements add up to more. A
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
