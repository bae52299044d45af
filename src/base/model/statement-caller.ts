/** The caller on whose behalf statements run, and what it may hear of them. */

/** The caller on whose behalf a statement runs. A `Scope` is one. */
export interface StatementCaller {
  readonly requestId: string;
  /** The name of the GraphQL operation, or the template of the route. */
  readonly operation?: string | undefined;
  /** Hears of the statements of this caller alone. */
  readonly onStatement?: ((statement: EndedStatement) => void) | undefined;
  /** Hears how long statements took that were for this caller, of those for others as well too. */
  readonly onDuration?: ((durationMs: number) => void) | undefined;
}

export interface EndedStatement {
  readonly sql: SqlText;
  readonly durationMs: number;
  readonly rowCount: number;
}

/**
 * SQL as it went to the database. The values stand between the strings, and are `$1`, `$2`, … in the text.
 */
export interface SqlText {
  readonly text: string;
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}
