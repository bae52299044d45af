/** The input and result of a script run. */

import type { ErrorCode, ErrorDetail } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import type { Scope } from '../../base/model/scope.js';
import type { QueueKey } from '../../store/database/fair-queue.js';
import type { Transaction } from '../../store/database/queryable.js';

export interface ScriptSource {
  /** Shown in errors. */
  readonly name: string;
  /**
   * An ES module. Its result is the default export; a function is called with the arguments, and a promise is
   * awaited: `export default (args) => args.a + 1`.
   */
  readonly code: string;
}

export interface RunRequest {
  /** The id of the run, a UUID, used in its log. Default: a new one. */
  readonly id?: string | undefined;
  readonly source: ScriptSource;
  /**
   * The scope of the script: it can do nothing that this principal could not do itself. Its signal ends the
   * run.
   */
  readonly scope: Scope;
  /** The script's global `args`; null becomes `{}`, so that a function can destructure it. */
  readonly arguments: JsonValue;
  /** Told each line soon after it was printed. */
  readonly onOutput?: ((line: OutputLine) => void) | undefined;
  /** Ends the run, in addition to the scope's signal. */
  readonly signal?: AbortSignal | undefined;
  /** 1: started from outside; more: by another script. Default: one more than that of the scope. */
  readonly depth?: number | undefined;
  /**
   * The caller that the run counts for in the queue. `held`: the caller has a permit already; two scripts
   * that wait for scripts could otherwise wait for each other. Default: the principal of the scope.
   */
  readonly queueKey?: QueueKey | 'held' | undefined;
  /** The transaction the run's writes are part of. */
  readonly within?: Transaction | undefined;
  /**
   * The time from the request on, waiting in the queue included, where the caller grants less than the
   * settings do, e.g. to a before-trigger.
   */
  readonly wallTimeMs?: number | undefined;
}

/** The least severe first. */
export const OUTPUT_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type OutputLevel = (typeof OUTPUT_LEVELS)[number];

export interface OutputLine {
  readonly at: Date;
  readonly level: OutputLevel;
  readonly text: string;
}

export interface RunResult {
  readonly id: string;
  readonly status: 'succeeded' | 'failed';
  /** Absent: failed, or the script has no default export. */
  readonly value?: JsonValue;
  readonly error?: ScriptError;
  readonly output: readonly OutputLine[];
  /** The time from the start of the script; waiting for a free place not included. */
  readonly durationMs: number;
  /**
   * Processor time of its thread; where the system does not measure it (other than Linux), the time not
   * spent waiting for the gateway.
   */
  readonly cpuMs: number;
  /** The memory at the end of the script or, if that exceeds the initial heap, the most it held. */
  readonly memoryBytes: number;
  readonly hostCalls: number;
}

/** The setting a script ran into. */
type ScriptLimit = 'cpuTime' | 'wallTime' | 'memory' | 'stack' | 'output' | 'hostCalls';

export interface ScriptError {
  /** `TypeError`, `Error`, … as the script would see it. */
  readonly name: string;
  readonly message: string;
  /**
   * The code of an error of the gateway (a refusal, a limit); status and details are as everywhere. Absent:
   * the script's own error.
   */
  readonly code?: ErrorCode | undefined;
  readonly status?: number | undefined;
  readonly errors?: readonly ErrorDetail[] | undefined;
  readonly limit?: ScriptLimit | undefined;
  /** The script of the innermost place, if known; lines and columns are counted from 1. */
  readonly script: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** The calls that led there, one a line, the script's own alone. */
  readonly stack: string;
}
