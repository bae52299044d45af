/**
 * A guest thread from the gateway's side: started, lent to one run at a time, and terminated if it cannot be
 * stopped otherwise.
 */

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import { threadModule } from '../../base/process/thread-module.js';
import {
  ANSWERED,
  BEATS,
  type GuestFunction,
  type GuestLine,
  type GuestMessage,
  type GuestOutcome,
  type GuestSettings,
  SHARED_BYTES,
  STOP,
  STOP_REASONS,
  type StartMessage,
} from './guest/guest-message.js';
import { readThreadClock } from './guest/thread-clock.js';
import type { ScriptLimits } from './script-settings.js';

export type CallMessage = Extract<GuestMessage, { kind: 'call' }>;

/** The part of a run that its thread needs. */
export interface RunHost {
  /** Answers a call with the text described in guest-message.ts; never throws. */
  answer(call: CallMessage): Promise<string>;
  onOutput(lines: readonly GuestLine[]): void;
}

/** The reasons for which a run is ended from outside. */
export type OutsideStop = Exclude<(typeof STOP_REASONS)[number], 'none'>;

export type ThreadOutcome =
  | { readonly kind: 'ended'; readonly outcome: GuestOutcome }
  /**
   * The thread was terminated with the run. `stuck`: in a single long native operation, beyond its processor
   * time.
   */
  | {
      readonly kind: 'lost';
      readonly reason: OutsideStop | 'stuck' | 'crashed';
      readonly error?: unknown;
      readonly busyMs: number;
    };

/**
 * How long a run may take to end after it was ended, and how long its interpreter may fail to respond beyond
 * its time.
 */
const GRACE_MS = 300;
const WATCH_MS = 100;
const STOPPED = '-{"message":"the run has ended"}';

export class GuestThread {
  readonly #worker: Worker;
  readonly #answers: MessagePort;
  readonly #settings: GuestSettings;
  #run: ThreadRun | undefined;
  /** Told to stop before it had begun. */
  #stopFirst: OutsideStop | undefined;
  #wasReady = false;
  #threadNumber: number | undefined;
  #becomeReady: () => void = () => {};
  #ready: Promise<void>;
  #isLost = false;

  /** Starts the thread, which is ready some 50 ms later. `onLost` is called once, also after `end`. */
  constructor(settings: GuestSettings, onLost: (thread: GuestThread) => void) {
    const { port1, port2 } = new MessageChannel();
    this.#settings = settings;
    this.#answers = port1;
    this.#ready = this.#nextReady();
    const { entry, execArgv } = threadModule('services/scripting/guest/thread');
    this.#worker = new Worker(entry, {
      workerData: { settings, answers: port2 },
      transferList: [port2],
      execArgv,
      // The environment contains the gateway's secrets.
      env: {},
      // Limits of the thread's own heap, which holds data in transit; the guest's heap is limited separately.
      // With a smaller stack, WebAssembly overflows before the interpreter notices.
      resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16, stackSizeMb: 16 },
    });
    this.#worker.on('message', (message: GuestMessage) => this.#hear(message));
    let failure: unknown;
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#worker.once('exit', () => {
      this.#isLost = true;
      this.#answers.close();
      this.#becomeReady();
      this.#run?.lose(failure);
      onLost(this);
    });
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the thread ever became ready. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** Runs a script; one at a time. */
  async run(start: Omit<StartMessage, 'shared'>, host: RunHost): Promise<ThreadOutcome> {
    this.#stopFirst = undefined;
    await this.#ready;
    if (this.#isLost) return { kind: 'lost', reason: 'crashed', busyMs: 0 };
    this.#ready = this.#nextReady();
    const shared = new SharedArrayBuffer(SHARED_BYTES);
    const run = new ThreadRun({
      shared: new Int32Array(shared),
      cpuTimeMs: this.#settings.cpuTimeMs,
      threadNumber: this.#threadNumber,
      host,
      answer: (text) => this.#answers.postMessage(text),
      terminate: () => void this.#worker.terminate(),
    });
    this.#run = run;
    if (this.#stopFirst !== undefined) run.stop(this.#stopFirst);
    this.#worker.postMessage({ ...start, shared } satisfies StartMessage);
    try {
      return await run.outcome;
    } finally {
      this.#run = undefined;
    }
  }

  /**
   * Ends the current run: at its next instruction or, if the interpreter does not respond, with the thread.
   */
  stop(reason: OutsideStop): void {
    if (this.#run === undefined) this.#stopFirst = reason;
    else this.#run.stop(reason);
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #nextReady(): Promise<void> {
    return new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
  }

  #hear(message: GuestMessage): void {
    if (message.kind === 'ready') {
      this.#wasReady = true;
      this.#threadNumber = message.threadNumber;
      this.#becomeReady();
    } else this.#run?.hear(message);
  }
}

interface ThreadRunOptions {
  readonly shared: Int32Array;
  readonly cpuTimeMs: number;
  readonly threadNumber: number | undefined;
  readonly host: RunHost;
  readonly answer: (text: string) => void;
  readonly terminate: () => void;
}

/** A run on a thread: answers its calls, and checks that it can still be stopped. */
class ThreadRun {
  readonly outcome: Promise<ThreadOutcome>;
  readonly #options: ThreadRunOptions;
  readonly #startedAt = performance.now();
  readonly #cpuStartMs: number | undefined;
  /** The processor time at the last check. */
  #cpuMs: number | undefined;
  readonly #watch: NodeJS.Timeout;
  #kill: NodeJS.Timeout | undefined;
  #settle: (outcome: ThreadOutcome) => void = () => {};
  #calledAt: number | undefined;
  #answeredMs = 0;
  #beats = 0;
  #heardAt = performance.now();
  #endReason: OutsideStop | 'stuck' | undefined;

  constructor(options: ThreadRunOptions) {
    this.#options = options;
    this.#cpuStartMs = this.#readClock();
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
  }

  hear(message: Exclude<GuestMessage, { kind: 'ready' }>): void {
    switch (message.kind) {
      case 'call':
        void this.#answer(message);
        return;
      case 'output':
        this.#options.host.onOutput(message.lines);
        return;
      case 'ended':
        this.#finish({ kind: 'ended', outcome: message.outcome });
    }
  }

  stop(reason: OutsideStop): void {
    if (this.#endReason !== undefined) return;
    this.#endReason = reason;
    this.#cpuMs = this.#askCpuMs();
    Atomics.store(this.#options.shared, STOP, STOP_REASONS.indexOf(reason));
    if (this.#calledAt !== undefined) this.#wake(STOPPED);
    this.#kill = setTimeout(() => this.#options.terminate(), GRACE_MS);
  }

  lose(error: unknown): void {
    // The clock of a thread ends with it.
    const busyMs = this.#cpuMs ?? this.#busyMs;
    this.#finish({
      kind: 'lost',
      reason: this.#endReason ?? 'crashed',
      busyMs,
      ...(error !== undefined && { error }),
    });
  }

  async #answer(call: CallMessage): Promise<void> {
    this.#calledAt = performance.now();
    if (this.#endReason !== undefined) {
      this.#wake(STOPPED);
      return;
    }
    const text = await this.#options.host.answer(call);
    if (this.#calledAt !== undefined) this.#wake(text);
  }

  #wake(text: string): void {
    this.#answeredMs += performance.now() - (this.#calledAt ?? performance.now());
    this.#calledAt = undefined;
    this.#heardAt = performance.now();
    this.#options.answer(text);
    Atomics.store(this.#options.shared, ANSWERED, 1);
    Atomics.notify(this.#options.shared, ANSWERED);
  }

  /**
   * The interpreter itself ends a run that exceeds its processor time, and reports the position; this ends
   * one that does not respond.
   */
  #look(): void {
    const beats = Atomics.load(this.#options.shared, BEATS);
    if (this.#calledAt !== undefined || beats !== this.#beats) {
      this.#beats = beats;
      this.#heardAt = performance.now();
      return;
    }
    const isDeaf = performance.now() - this.#heardAt > GRACE_MS;
    if (!isDeaf || this.#busyMs < this.#options.cpuTimeMs || this.#endReason !== undefined) return;
    // It may only be waiting for a processor, on a busy machine.
    this.#cpuMs = this.#askCpuMs();
    if (this.#cpuMs !== undefined && this.#cpuMs < this.#options.cpuTimeMs) return;
    this.#endReason = 'stuck';
    this.#options.terminate();
  }

  /** The processor time of the run; `undefined` if the system does not provide it. */
  #askCpuMs(): number | undefined {
    const now = this.#readClock();
    return now === undefined || this.#cpuStartMs === undefined ? undefined : now - this.#cpuStartMs;
  }

  #readClock(): number | undefined {
    const { threadNumber } = this.#options;
    return threadNumber === undefined ? undefined : readThreadClock(threadNumber);
  }

  /** The time during which the thread did not wait for the gateway. */
  get #busyMs(): number {
    return performance.now() - this.#startedAt - this.#answeredMs;
  }

  #finish(outcome: ThreadOutcome): void {
    clearInterval(this.#watch);
    clearTimeout(this.#kill);
    this.#settle(outcome);
  }
}

/** How long an extra thread waits for another run. */
const IDLE_MS = 30_000;

export interface GuestPoolOptions {
  readonly limits: ScriptLimits;
  readonly functions: readonly GuestFunction[];
  /** The niceness of its threads: how far below the gateway's own they run. */
  readonly niceness: number;
  readonly interpreter: () => Promise<WebAssembly.Module>;
}

export class GuestPool {
  readonly #options: GuestPoolOptions;
  readonly #idle: GuestThread[] = [];
  readonly #threads = new Set<GuestThread>();
  #isClosed = false;

  constructor(options: GuestPoolOptions) {
    this.#options = options;
  }

  /** Starts the threads to keep ready. */
  async warmUp(): Promise<void> {
    for (let count = this.#threads.size; count < this.#options.limits.warmThreads; count++)
      this.#idle.push(await this.#start());
  }

  /**
   * Lends a thread to `work`, starting one if none is idle. The caller must already hold a
   * permit of the queue.
   */
  async lend<T>(work: (thread: GuestThread) => Promise<T>): Promise<T> {
    this.#assertOpen();
    const thread = this.#takeIdle() ?? (await this.#start());
    try {
      return await work(thread);
    } finally {
      this.#giveBack(thread);
    }
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #assertOpen(): void {
    if (this.#isClosed) {
      throw new ServiceError('UNAVAILABLE', 'the service is shutting down', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  #takeIdle(): GuestThread | undefined {
    let thread = this.#idle.pop();
    while (thread?.isLost) thread = this.#idle.pop();
    return thread;
  }

  #giveBack(thread: GuestThread): void {
    if (thread.isLost || this.#isClosed) return;
    this.#idle.push(thread);
    const { warmThreads } = this.#options.limits;
    if (this.#idle.length <= warmThreads) return;
    setTimeout(() => {
      if (this.#idle.length > warmThreads) void this.#idle.shift()?.end();
    }, IDLE_MS).unref();
  }

  async #start(): Promise<GuestThread> {
    const { limits, functions, niceness, interpreter } = this.#options;
    const wasm = await interpreter();
    this.#assertOpen();
    const thread = new GuestThread({ ...limits, wasm, functions, niceness }, (lost) => {
      this.#threads.delete(lost);
      // Replaces the thread, unless threads cannot start at all.
      if (lost.wasReady && !this.#isClosed) this.warmUp().catch(() => {});
    });
    this.#threads.add(thread);
    return thread;
  }
}

/** Returns the interpreter, compiled on first use; all threads share the machine code. */
export function shareInterpreter(): () => Promise<WebAssembly.Module> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  return () => {
    compiled ??= loadInterpreter();
    return compiled;
  };
}

async function loadInterpreter(): Promise<WebAssembly.Module> {
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  return await WebAssembly.compile(await readFile(file));
}
