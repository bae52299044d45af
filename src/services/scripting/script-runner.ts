/**
 * Runs scripts, which nobody trusts, beside the gateway and not within it: in QuickJS compiled to
 * WebAssembly, on threads of their own, each run with a fresh interpreter and limits on all it takes.
 *
 * A script can only call the bindings in the list, as the principal of its scope. If a run is ended, the
 * statement that it waits for is cancelled.
 */

import { v7 as uuidv7 } from 'uuid';
import { invalidAt, invariant, ServiceError } from '../../base/errors.js';
import { isNestedDeeply } from '../../base/json/body-shape.js';
import { parsePlainJson, printExactJson } from '../../base/json/json.js';
import { shareWithAll, toAbortSignal } from '../../base/model/end-signal.js';
import { withCall } from '../../base/model/scope.js';
import { inSpan, withinTrace } from '../../base/process/traced.js';
import type { FairQueue, QueueKey } from '../../store/database/fair-queue.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import {
  GuestPool,
  type GuestThread,
  type OutsideStop,
  type RunHost,
  shareInterpreter,
  type ThreadOutcome,
} from './guest-thread.js';
import { HostCalls } from './host-calls.js';
import type { HostBinding, HostCallContext } from './platform/host-binding.js';
import { createRunQueue, createStreamLimit, queueKeyOf } from './run-queues.js';
import type { OutputLine, RunRequest, RunResult, ScriptError, ScriptSource } from './run-request.js';
import { deepResultError, scriptEndedError, scriptLimitError, scriptThrownError } from './script-errors.js';
import { printLimit, type ScriptLimits } from './script-settings.js';

export interface ScriptRunnerOptions {
  readonly store: Pick<RecordStore, 'transaction'>;
  readonly bindings: readonly HostBinding[];
  readonly limits: ScriptLimits;
  /** Receives a fault of ours in a binding; the script only learns that there was one. */
  readonly onFault: (task: string, error: unknown) => void;
}

/** Whether anything is going to run: a thread that waits for nothing takes some 10 MiB all the same. */
export interface ExpectedRuns {
  readonly ofAnyKind: boolean;
  /** Runs that writes wait for. */
  readonly withinWrites: boolean;
}

/**
 * Scripts get what the gateway's own threads leave: with twenty endless loops on two busy cores a request
 * takes what it takes without them, at 10 five times as long.
 */
const NICENESS = 15;
/**
 * A run within a transaction holds a connection and locks, and somebody waits for the write: at 15 it would
 * get next to nothing on a machine whose processors are taken. There are few of these, each with little time,
 * so that they do not crowd out the gateway.
 */
const NICENESS_WITHIN_WRITES = 5;

export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;
  readonly #bindings: ReadonlyMap<string, HostBinding>;
  readonly #pool: GuestPool;
  /** The threads of runs within a transaction. */
  readonly #writePool: GuestPool;
  readonly #closing = new AbortController();
  readonly #runs = new Set<Promise<unknown>>();
  readonly #queue: FairQueue;
  readonly #openStreams: FairQueue;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
    this.#queue = createRunQueue(options.limits);
    this.#openStreams = createStreamLimit(options.limits);
    this.#bindings = new Map(options.bindings.map((binding) => [binding.name, binding]));
    invariant(this.#bindings.size === options.bindings.length, 'two bindings have the same name');
    const functions = options.bindings.map((binding) => {
      const returns = binding.kind === 'function' ? binding.returns : 'promise';
      return { name: binding.name, kind: binding.kind, returns } as const;
    });
    const shared = { limits: options.limits, functions, interpreter: shareInterpreter() };
    this.#pool = new GuestPool({ ...shared, niceness: NICENESS });
    this.#writePool = new GuestPool({ ...shared, niceness: NICENESS_WITHIN_WRITES });
  }

  /** How many threads there are now, and how many of them are for runs within a transaction. */
  get threads(): { readonly all: number; readonly withinWrites: number } {
    const withinWrites = this.#writePool.size;
    return { all: this.#pool.size + withinWrites, withinWrites };
  }

  /** Starts the threads that are kept ready for these runs, so that the first is a warm one. */
  async warmUp(expected: ExpectedRuns): Promise<void> {
    if (expected.ofAnyKind) await this.#pool.warmUp();
    if (expected.withinWrites) await this.#writePool.warmUp();
  }

  /**
   * Runs a script to its end. That it fails is a result; only what keeps it from starting is thrown.
   *
   * @throws LIMIT_EXCEEDED for its code, its arguments or its depth; UNAVAILABLE when too many scripts wait;
   * the signal's reason when that ends the waiting
   */
  async run(request: RunRequest): Promise<RunResult> {
    const argumentsText = this.#checkRequest(request);
    const signals = [request.signal, request.scope.call.signal, this.#closing.signal];
    const signal = AbortSignal.any(signals.flatMap((one) => (one === undefined ? [] : [toAbortSignal(one)])));
    // Every host call under way listens, and a script may make many at once.
    shareWithAll(signal);
    const running = this.#runWithPermit(request, { argumentsText, signal });
    this.#runs.add(running);
    try {
      return await running;
    } finally {
      this.#runs.delete(running);
    }
  }

  async #runWithPermit(
    request: RunRequest,
    started: { readonly argumentsText: string; readonly signal: AbortSignal },
  ): Promise<RunResult> {
    const askedAt = performance.now();
    const wallTimeMs = Math.min(
      this.#options.limits.wallTimeMs,
      request.wallTimeMs ?? Number.POSITIVE_INFINITY,
    );
    const { scope, queueKey = queueKeyOf(scope) } = request;
    if (queueKey !== 'held') scope.call.onWait?.();
    const wait = { signal: started.signal, waitMs: wallTimeMs };
    const permit = queueKey === 'held' ? undefined : await this.#queue.acquire(queueKey, wait);
    try {
      const options = {
        ...this.#options,
        ...started,
        bindings: this.#bindings,
        openStreams: this.#openStreams,
        request,
        askedAt,
        wallTimeMs,
      };
      const pool = request.within === undefined ? this.#pool : this.#writePool;
      return await pool.lend((thread) => new Run({ ...options, thread }).run());
    } finally {
      permit?.release();
    }
  }

  /** Ends what runs, and the threads. */
  async close(): Promise<void> {
    this.#queue.close();
    this.#closing.abort(new ServiceError('UNAVAILABLE', 'the service is shutting down'));
    await Promise.allSettled(this.#runs);
    await Promise.all([this.#pool.close(), this.#writePool.close()]);
  }

  /**
   * Reads a script without running it.
   *
   * @throws INVALID_VALUE with line and column where it cannot be read; LIMIT_EXCEEDED; UNAVAILABLE
   */
  async check(source: ScriptSource): Promise<void> {
    const { limits } = this.#options;
    this.#checkSize(source);
    const { name: script, code } = source;
    const permit = await this.#queue.acquire(READER, { signal: shareWithAll(this.#closing.signal) });
    const ended = await this.#pool
      .lend((thread) =>
        thread.run({ task: 'check', script, code, argumentsText: 'null', timeZone: 'UTC' }, NOTHING_TO_CALL),
      )
      .finally(() => permit.release());
    const at = ended.kind === 'ended' ? ended.outcome.error : undefined;
    if (ended.kind === 'ended' && at === undefined) return;
    const error = at
      ? scriptThrownError(script, at, limits)
      : scriptLimitError(script, 'cpuTime', { limits, at });
    const place = error.line === undefined ? script : `${script}:${error.line}:${error.column}`;
    throw invalidAt(`${place}: ${error.name}: ${error.message}`, {
      parameter: 'code',
      detail: error.message,
      expected: 'an ES module',
    });
  }

  #checkSize(source: ScriptSource): void {
    const { limits } = this.#options;
    if (Buffer.byteLength(source.code) > limits.codeBytes) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `the script ${source.name} is larger than ${printLimit(limits, 'codeBytes')}`,
      );
    }
  }

  #checkRequest(request: RunRequest): string {
    const { limits } = this.#options;
    const { source, arguments: args } = request;
    this.#checkSize(source);
    if (depthOf(request) > limits.depth) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `${source.name} was not started: scripts that start scripts may be nested no deeper than ` +
          `${printLimit(limits, 'depth')}`,
      );
    }
    const text = printExactJson(args ?? {});
    if (text.length > limits.payloadBytes) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `the arguments of ${source.name} are larger than ${printLimit(limits, 'payloadBytes')}`,
      );
    }
    return text;
  }
}

/** A script can make up any number of names. */
const MAX_HINTS = 10;

/** Scripts that are read and not run are counted apart from those of the domains. */
const READER: QueueKey = { tenant: '', caller: 'check' };

/** A script that is not run calls nothing. */
const NOTHING_TO_CALL: RunHost = {
  answer: async () => '-{"message":"the script is not running"}',
  onOutput: () => {},
};

/** How many scripts, one within the other, this one makes. */
function depthOf({ depth, scope }: RunRequest): number {
  return depth ?? (scope.call.scriptDepth ?? 0) + 1;
}

interface RunOptions extends Omit<ScriptRunnerOptions, 'bindings'> {
  readonly openStreams: FairQueue;
  readonly bindings: ReadonlyMap<string, HostBinding>;
  readonly request: RunRequest;
  readonly argumentsText: string;
  readonly signal: AbortSignal;
  readonly thread: GuestThread;
  /** The time by `performance.now()`. */
  readonly askedAt: number;
  readonly wallTimeMs: number;
}

/** One run, from the thread it got to its result. */
class Run {
  readonly #options: RunOptions;
  readonly #id: string;
  readonly #output: OutputLine[] = [];
  readonly #hints = new Set<string>();
  /** Ends the work of host calls: a statement, a request. */
  readonly #end = new AbortController();
  #stoppedBy: OutsideStop | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#id = options.request.id ?? uuidv7();
  }

  async run(): Promise<RunResult> {
    const { source } = this.#options.request;
    const attributes = { 'campus.script': source.name };
    return await inSpan({ name: 'script', kind: 'internal', attributes }, () => this.#run());
  }

  async #run(): Promise<RunResult> {
    const { request, thread, signal, bindings, limits, onFault, argumentsText } = this.#options;
    const { askedAt, wallTimeMs } = this.#options;
    const { source, scope } = request;
    signal.throwIfAborted();
    shareWithAll(this.#end.signal);
    const { openStreams } = this.#options;
    const context = this.#createContext();
    const calls = new HostCalls({ bindings, limits, openStreams, onFault, context });
    const startedAt = performance.now();
    const timer = setTimeout(() => this.#stop('wallTime'), Math.max(0, wallTimeMs - (startedAt - askedAt)));
    const abort = () => this.#stop('aborted');
    signal.addEventListener('abort', abort, { once: true });
    try {
      const outcome = await thread.run(
        {
          task: 'run',
          script: source.name,
          code: source.code,
          argumentsText,
          timeZone: scope.domain.timeZone,
        },
        {
          // The thread calls by events, which do not have the context of the run.
          answer: withinTrace((call) => calls.answer(call)),
          onOutput: (lines) => {
            for (const { at, level, text } of lines) this.#print({ at: new Date(at), level, text });
          },
        },
      );
      return this.#toResult(outcome, performance.now() - startedAt);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#end.abort(new ServiceError('UNAVAILABLE', 'the script that requested this has ended'));
      await calls.close();
    }
  }

  #stop(reason: OutsideStop): void {
    this.#stoppedBy ??= reason;
    this.#options.thread.stop(reason);
    this.#end.abort(new ServiceError('UNAVAILABLE', 'the script that requested this was ended'));
  }

  #print(line: OutputLine): void {
    this.#output.push(line);
    this.#options.request.onOutput?.(line);
  }

  /** Puts a hint into the output, once. */
  #hint(text: string): void {
    if (this.#hints.size === MAX_HINTS || this.#hints.has(text)) return;
    this.#hints.add(text);
    this.#print({ at: new Date(), level: 'warn', text });
  }

  #createContext(): HostCallContext {
    const { request, store } = this.#options;
    const { signal } = this.#end;
    const { domain, principal, call } = request.scope;
    const { requestId, onStatement, onDuration, readsOnly } = call;
    const { name } = request.source;
    const depth = depthOf(request);
    const within = request.within && withSignal(request.within, signal);
    return {
      scope: {
        domain,
        principal,
        call: {
          requestId,
          // Part of a write, the run holds its connection, and is over with it.
          assertRights: within === undefined ? call.assertRights : undefined,
          onStatement,
          onDuration,
          onHint: (hint) => this.#hint(hint),
          operation: `script ${name}`,
          signal,
          readsOnly,
          scriptDepth: depth,
        },
      },
      run: { id: this.#id, name, depth },
      within,
      signal,
      transaction: (work) =>
        store.transaction(withCall(request.scope, { signal }), (tx) => work(withSignal(tx, signal)), {
          within: request.within,
        }),
    };
  }

  #toResult(outcome: ThreadOutcome, durationMs: number): RunResult {
    const ended = outcome.kind === 'ended' ? outcome.outcome : undefined;
    const counted = {
      id: this.#id,
      output: this.#output,
      durationMs,
      cpuMs: ended?.cpuMs ?? (outcome.kind === 'lost' ? outcome.busyMs : 0),
      // A thread that was ended takes its memory with it, uncounted.
      memoryBytes: ended?.memoryBytes ?? 0,
      hostCalls: ended?.hostCalls ?? 0,
    };
    const error = this.#findError(outcome);
    if (error !== undefined) return { ...counted, status: 'failed', error };
    const value = ended?.valueText === undefined ? undefined : parsePlainJson(ended.valueText);
    return { ...counted, status: 'succeeded', ...(value !== undefined && { value }) };
  }

  #findError(outcome: ThreadOutcome): ScriptError | undefined {
    const { limits, request, wallTimeMs } = this.#options;
    const { name } = request.source;
    const ended = outcome.kind === 'ended' ? outcome.outcome : undefined;
    if (ended?.valueText !== undefined && isNestedDeeply(ended.valueText)) return deepResultError(name);
    const at = ended?.error;
    if (this.#stoppedBy === 'wallTime') {
      return scriptLimitError(name, 'wallTime', { limits, at, wallTimeMs });
    }
    if (this.#stoppedBy === 'aborted') return scriptEndedError(name, 'nobody waits for it any more', at);
    if (outcome.kind === 'lost') {
      if (outcome.reason === 'stuck') return scriptLimitError(name, 'cpuTime', { limits, at });
      this.#options.onFault(
        `the thread of the script ${name}`,
        outcome.error ?? new Error('the thread ended'),
      );
      return scriptEndedError(name, 'its thread failed, most likely for want of memory', at);
    }
    const limit = outcome.outcome.stoppedBy;
    if (limit !== undefined && limit !== 'outside') return scriptLimitError(name, limit, { limits, at });
    return at && scriptThrownError(name, at, limits);
  }
}

/** The same transaction, whose statements end with the run. */
function withSignal(transaction: Transaction, signal: AbortSignal): Transaction {
  return {
    ...transaction,
    query: (sql, options = {}) => transaction.query(sql, { signal, ...options }),
  };
}
