/**
 * What the gateway and a guest thread say to each other.
 *
 * The thread blocks while the gateway answers a call: it posts the call, sleeps on `ANSWERED` in the shared
 * memory, and takes the answer from its port without returning to its event loop. Answers are texts: `+` and
 * the JSON of the value, `+` alone for nothing, `-` and the JSON of an error.
 */
import type { OutputLevel } from '../run-request.js';

/** Places in the shared `Int32Array`. */
export const ANSWERED = 0;
/** It is not 0 when the run is to end, see `STOP_REASONS`. */
export const STOP = 1;
/**
 * Goes up while the interpreter runs, so that the gateway sees when it is stuck in one long native operation.
 */
export const BEATS = 2;
export const SHARED_BYTES = 12;

/** What a run was ended by from outside, by its number in `STOP`. */
export const STOP_REASONS = ['none', 'wallTime', 'aborted'] as const;

/** What a thread is told once. */
export interface GuestSettings {
  readonly wasm: WebAssembly.Module;
  readonly functions: readonly GuestFunction[];
  /** How far below the gateway's own threads it runs, where the system knows that of a thread. */
  readonly niceness: number;
  readonly cpuTimeMs: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly outputLines: number;
  readonly hostCalls: number;
  readonly payloadBytes: number;
}

/** A binding as the guest sees it. */
export interface GuestFunction {
  readonly name: string;
  readonly kind: 'function' | 'stream';
  readonly returns: 'value' | 'promise';
}

export interface StartMessage {
  /** `check`: whether the code can be read, nothing more. */
  readonly task: 'run' | 'check';
  readonly script: string;
  readonly code: string;
  /** JSON. */
  readonly argumentsText: string;
  readonly timeZone: string;
  readonly shared: SharedArrayBuffer;
}

/** `next` and `close` name the stream by the number `open` answered. */
export type CallOperation = 'call' | 'open' | 'next' | 'close';

export type GuestMessage =
  /** `threadNumber` is the system's, where the gateway can read the thread's processor time by it. */
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
  /** JSON; absent: no value. */
  readonly valueText?: string;
  readonly error?: GuestError;
  /** The limit the thread itself ended the run for. */
  readonly stoppedBy?: GuestStop;
  readonly cpuMs: number;
  readonly hostCalls: number;
  readonly memoryBytes: number;
}

export type GuestStop = 'cpuTime' | 'outputBytes' | 'outputLines' | 'hostCalls' | 'outside';

/** The error as the guest described it; everything in it was in the hands of the script. */
export interface GuestError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /**
   * The refusal of a host call that went through the script: the JSON of `code`, `status` and `errors`.
   */
  readonly refusal?: string;
}
