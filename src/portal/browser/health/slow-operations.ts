/** A run of a slow statement, as the gateway reports it. */
export interface SlowRun {
  readonly at: string;
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly collections: readonly string[];
  readonly durationMs: number;
  readonly rows: number;
  readonly statement: string;
  readonly suggestions: readonly string[];
}

/** The slow statements of an operation or a route; for a task of the gateway, the same statement. */
export interface SlowOperation {
  /** Distinguishes it from the others of the list. */
  readonly key: string;
  /** Absent for a task of the gateway. */
  readonly name: string | null;
  readonly count: number;
  readonly lastAt: string;
  readonly worst: SlowRun;
  /** The declarations of indexes that would help any of its statements. */
  readonly suggestions: readonly string[];
}

/** Groups slow statements, given with the newest first, by their operations: the slowest one first. */
export function toSlowOperations(statements: readonly SlowRun[]): readonly SlowOperation[] {
  const operations = new Map<string, SlowOperation>();
  for (const one of statements) {
    const key = one.operation ?? one.statement;
    const found = operations.get(key);
    operations.set(key, {
      key,
      name: one.operation,
      count: (found?.count ?? 0) + 1,
      lastAt: found?.lastAt ?? one.at,
      worst: found && found.worst.durationMs >= one.durationMs ? found.worst : one,
      suggestions: [...new Set([...(found?.suggestions ?? []), ...one.suggestions])],
    });
  }
  return [...operations.values()].sort((one, other) => other.worst.durationMs - one.worst.durationMs);
}
