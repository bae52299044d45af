/**
 * The messages between the gateway and a guest thread.
 *
 * The thread blocks while the gateway answers a call: it posts the call, sleeps on `ANSWERED` in the shared
 * memory, and takes the answer from its port without returning to its event loop. Answers are texts: `+` and
 * the JSON of the value, `+` alone for no value, `-` and the JSON of an error.
 */
import type { OutputLevel } from '../run-request.js';
import type { ScriptLimits } from '../script-settings.js';

/** Indexes into the shared `Int32Array`. */
export const ANSWERED = 0;
/** Not 0 when the run must end, see `STOP_REASONS`. */
export const STOP = 1;
/**
 * Incremented while the interpreter runs, so that the gateway notices when it is stuck in a long native
 * operation.
 */
export const BEATS = 2;
export const SHARED_BYTES = 12;

/** The reasons to end a run from outside, by their number in `STOP`. */
export const STOP_REASONS = ['none', 'wallTime', 'aborted'] as const;

/** The first message to a thread. */
export interface GuestSettings
  extends Pick<
    ScriptLimits,
    'cpuTimeMs' | 'memoryBytes' | 'outputBytes' | 'outputLines' | 'hostCalls' | 'payloadBytes'
  > {
  readonly wasm: WebAssembly.Module;
  readonly functions: readonly GuestFunction[];
  /**
   * How much lower its priority is than that of the gateway's own threads, if the system supports it per
   * thread.
   */
  readonly niceness: number;
}

/** A binding as the guest sees it. */
export interface GuestFunction {
  readonly name: string;
  readonly kind: 'function' | 'stream';
  readonly returns: 'value' | 'promise';
}

export interface StartMessage {
  /** `check` only parses the code. */
  readonly task: 'run' | 'check';
  readonly script: string;
  readonly code: string;
  /** JSON. */
  readonly argumentsText: string;
  readonly timeZone: string;
  readonly shared: SharedArrayBuffer;
}

/**
 * `next` and `close` refer to the stream by the number that `open` returned. The others begin and end the
 * transaction of the script.
 */
export type CallOperation = 'call' | 'open' | 'next' | 'close' | 'begin' | 'commit' | 'rollback';

export type GuestMessage =
  /** `threadNumber` is the operating system's, if the gateway can read the thread's processor time by it. */
  | { readonly kind: 'ready'; readonly threadNumber?: number | undefined }
  | {
      readonly kind: 'call';
      readonly operation: CallOperation;
      readonly name: string;
      readonly argumentsText: string;
    }
  | { readonly kind: 'output'; readonly lines: readonly GuestLine[] }
  | { readonly kind: 'ended'; readonly outcome: GuestOutcome };

export interface GuestLine {
  /** Milliseconds of Unix time. */
  readonly at: number;
  readonly level: OutputLevel;
  readonly text: string;
}

export interface GuestOutcome {
  /** JSON; absent if there is no value. */
  readonly valueText?: string;
  readonly error?: GuestError;
  /** The limit for which the thread ended the run. */
  readonly stoppedBy?: GuestStop;
  readonly cpuMs: number;
  readonly hostCalls: number;
  readonly memoryBytes: number;
}

export type GuestStop = 'cpuTime' | 'outputBytes' | 'outputLines' | 'hostCalls' | 'outside';

/** The error as described by the guest; the script could have manipulated all of it. */
export interface GuestError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** The error of a host call that the script rethrew: the JSON of `code`, `status` and `errors`. */
  readonly refusal?: string;
}
