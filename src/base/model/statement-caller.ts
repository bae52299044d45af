/** The caller on whose behalf statements run, and its listeners. */

/** The caller on whose behalf a statement runs. A `Scope` is one. */
export interface StatementCaller {
  readonly requestId: string;
  /** The name of the GraphQL operation, or the template of the route. */
  readonly operation?: string | undefined;
  /** Receives the statements that run only for this caller. */
  readonly onStatement?: ((statement: EndedStatement) => void) | undefined;
  /** Receives the duration of each statement for this caller, including shared statements. */
  readonly onDuration?: ((durationMs: number) => void) | undefined;
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
