/** The limits of a run. Each is a setting (`SCRIPT_…`). */
export interface ScriptLimits {
  /** Processor time of the script itself. */
  readonly cpuTimeMs: number;
  /** The time from start to end, waiting for the gateway included. */
  readonly wallTimeMs: number;
  /** The script's heap. */
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly outputLines: number;
  readonly hostCalls: number;
  /** The most bytes of the arguments, the result, and what goes in and out of one host call, as JSON text. */
  readonly payloadBytes: number;
  readonly codeBytes: number;
  /** Scripts that start scripts: 1 forbids it. */
  readonly depth: number;
  /** Started from outside; each may have `depth - 1` others under it, one waiting for the other. */
  readonly concurrentRuns: number;
  /** The most of these for one domain. */
  readonly domainRuns: number;
  /** The most of these for one caller. */
  readonly callerRuns: number;
  /** Waiting for a place; one more is refused. */
  readonly queuedRuns: number;
  /** The most of these for one caller. */
  readonly callerQueuedRuns: number;
  /** Writes that ask scripts at one time; each holds a connection. */
  readonly beforeRuns: number;
  /** Writes that wait for a place to ask; they hold no connection. */
  readonly queuedBeforeRuns: number;
  /** Lists read at once by all runs together; one run may have half of them open. */
  readonly streams: number;
  /** Threads kept ready. */
  readonly warmThreads: number;
}

/** The variable that sets a limit, for messages that say which one was met: `SCRIPT_CPU_TIME_MS`. */
export function limitVariable(name: keyof ScriptLimits): string {
  return `SCRIPT_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** `more than 500 ms (SCRIPT_CPU_TIME_MS)`. */
export function printLimit(limits: ScriptLimits, name: keyof ScriptLimits): string {
  const unit = /(Ms|Bytes)$/.exec(name)?.[0] ?? '';
  const words = { Ms: ' ms', Bytes: ' bytes' }[unit] ?? '';
  return `${limits[name].toLocaleString('en')}${words} (${limitVariable(name)})`;
}
