/** The guest threads: some kept ready, more when needed, never more than the settings allow. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { ServiceError } from '../errors.js';
import type { GuestFunction } from './guest/protocol.js';
import { GuestThread } from './guest-thread.js';
import { printLimit, type ScriptLimits } from './script-limits.js';

/** How long a thread beyond the warm ones stays for the next run. */
const IDLE_MS = 30_000;

export class GuestPool {
  readonly #limits: ScriptLimits;
  readonly #functions: readonly GuestFunction[];
  readonly #idle: GuestThread[] = [];
  readonly #threads = new Set<GuestThread>();
  readonly #waiting: (() => void)[] = [];
  #wasm: Promise<WebAssembly.Module> | undefined;
  #taken = 0;
  #isClosed = false;

  constructor(limits: ScriptLimits, functions: readonly GuestFunction[]) {
    this.#limits = limits;
    this.#functions = functions;
  }

  /** Starts the threads that are kept ready. */
  async warmUp(): Promise<void> {
    for (let count = this.#threads.size; count < this.#limits.warmThreads; count++) {
      this.#idle.push(await this.#start());
    }
  }

  /**
   * Lends a thread to `work`. A run that was started from outside waits for a place; one that a script started has its place already,
   * or two scripts that wait for scripts could wait for each other.
   *
   * @throws UNAVAILABLE when too many wait, or the service is stopping; the signal's reason when it ends the waiting
   */
  async lend<T>(
    place: { readonly kind: 'outside' | 'nested'; readonly signal: AbortSignal },
    work: (thread: GuestThread) => Promise<T>,
  ): Promise<T> {
    if (place.kind === 'outside') await this.#takePlace(place.signal);
    try {
      const thread = this.#takeIdle() ?? (await this.#start());
      try {
        return await work(thread);
      } finally {
        this.#giveBack(thread);
      }
    } finally {
      if (place.kind === 'outside') this.#leavePlace();
    }
  }

  /** How many threads there are now. */
  get size(): number {
    return this.#threads.size;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #takePlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#assertOpen();
    if (this.#taken < this.#limits.concurrentRuns) {
      this.#taken += 1;
      return;
    }
    if (this.#waiting.length >= this.#limits.queuedRuns) {
      throw new ServiceError(
        'UNAVAILABLE',
        `too many scripts are waiting to run: ${printLimit(this.#limits, 'queuedRuns')} behind ${printLimit(this.#limits, 'concurrentRuns')}`,
        { retryAfterSeconds: 5 },
      );
    }
    await new Promise<void>((resolve, reject) => {
      const wake = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(wake);
    });
    this.#assertOpen();
  }

  /** The place goes to the one who waits longest, or is free. */
  #leavePlace(): void {
    const wake = this.#waiting.shift();
    if (wake === undefined) this.#taken -= 1;
    else wake();
  }

  #assertOpen(): void {
    if (this.#isClosed) {
      throw new ServiceError('UNAVAILABLE', 'the service is shutting down', { retryAfterSeconds: 5 });
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
    if (this.#idle.length <= this.#limits.warmThreads) return;
    setTimeout(() => {
      const surplus = this.#idle.length > this.#limits.warmThreads ? this.#idle.shift() : undefined;
      void surplus?.end();
    }, IDLE_MS).unref();
  }

  async #start(): Promise<GuestThread> {
    this.#wasm ??= loadInterpreter();
    const wasm = await this.#wasm;
    this.#assertOpen();
    const { cpuTimeMs, memoryBytes, outputBytes, outputLines, hostCalls, payloadBytes } = this.#limits;
    const settings = { cpuTimeMs, memoryBytes, outputBytes, outputLines, hostCalls, payloadBytes };
    const thread = new GuestThread({ wasm, functions: this.#functions, ...settings }, (lost) => {
      this.#threads.delete(lost);
      // In its place, unless threads cannot start at all.
      if (lost.wasReady && !this.#isClosed) this.warmUp().catch(() => {});
    });
    this.#threads.add(thread);
    return thread;
  }
}

/** Compiled once; the threads share the machine code. */
async function loadInterpreter(): Promise<WebAssembly.Module> {
  const file = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
  return await WebAssembly.compile(await readFile(file));
}
