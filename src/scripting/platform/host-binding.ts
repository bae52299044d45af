/**
 * What a script can reach: functions of the gateway, each under its name in the global `platform` object.
 *
 * A binding runs in the gateway, as the run's principal: it gets the run's `Scope` and passes it to the
 * store, where the rights are. Nothing but JSON goes in or out. Its arguments are hostile: whoever wrote the
 * script chose every one of them, so a binding reads them as strictly as a request (`platform/arguments.ts`).
 */

import type { JsonValue } from '../../json.js';
import type { Scope } from '../../model/scope.js';
import type { JsonText } from '../../scalars/json-text.js';
import type { Transaction } from '../../store/database/database.js';
import type { ScriptError } from '../run-request.js';

/** The run a call comes from. */
export interface CallingRun {
  readonly id: string;
  /** The name of the script. */
  readonly name: string;
  /** 1 for a script that was started from outside, one more for each script that started another. */
  readonly depth: number;
}

export interface HostCallContext {
  /** The scope in which the script acts. Its `signal` is the run's. */
  readonly scope: Scope;
  readonly run: CallingRun;
  /** The transaction the whole run is part of (a before-trigger); its statements end with the run. */
  readonly within: Transaction | undefined;
  /** Ends when the run does: killed, timed out, its caller gone. Everything that takes time must heed it. */
  readonly signal: AbortSignal;
  /**
   * Work that is done as a whole or not at all: in the run's transaction where it has one, else in one of its
   * own. When the run is killed, the statement that runs is cancelled and the transaction rolled back.
   */
  transaction<T>(work: (within: Transaction) => Promise<T>): Promise<T>;
}

/** What a binding throws to hand on the error of another script: it is no fault of ours. */
export class ScriptFailure extends Error {
  readonly error: ScriptError;

  constructor(error: ScriptError) {
    const place = error.line === undefined ? '' : ` (${error.script}:${error.line}:${error.column})`;
    super(`${error.message}${place}`);
    this.error = error;
  }
}

export type HostBinding = FunctionBinding | StreamBinding;

interface NamedBinding {
  /** Below `platform`: `request`, `db.getCount`. */
  readonly name: string;
  /** Calls of it that one run may make. Default: as many as all host calls. */
  readonly maxCalls?: number | undefined;
}

export interface FunctionBinding extends NamedBinding {
  readonly kind: 'function';
  /**
   * What the script gets: the value itself, or a promise of it. `await` takes both; a function passed as the
   * last argument is called with `(error, result)` in both cases. A promise that failed and that nobody
   * looked at fails the run.
   */
  readonly returns: 'value' | 'promise';
  /** @throws ServiceError, which the script gets as an `Error` with `code`, `status` and `errors` */
  call(
    context: HostCallContext,
    args: readonly JsonValue[],
  ): Promise<JsonValue | JsonText | undefined> | JsonValue | JsonText | undefined;
}

/**
 * A list of any length, read batch by batch as the script takes it: at most one batch is on its way.
 *
 * With functions as the last arguments, the script gets `_eod(record)` once a record, each awaited, then
 * `_com(error)` once; without them, something to go through by `for await` or `for`.
 */
export interface StreamBinding extends NamedBinding {
  readonly kind: 'stream';
  /**
   * What does not fit into one answer of a batch is sent with the next. Leaving the loop closes it; so does
   * the end of the run.
   */
  open(
    context: HostCallContext,
    args: readonly JsonValue[],
  ): AsyncIterable<readonly (JsonValue | JsonText)[]>;
}
