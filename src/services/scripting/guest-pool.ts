/** The guest threads: some kept ready, more started on demand, never more than the settings allow. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';
import type { GuestFunction } from './guest/guest-message.js';
import { GuestThread } from './guest-thread.js';
import type { ScriptLimits } from './script-settings.js';

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
  readonly #limits: ScriptLimits;
  readonly #idle: GuestThread[] = [];
  readonly #threads = new Set<GuestThread>();
  #isClosed = false;

  constructor(options: GuestPoolOptions) {
    this.#options = options;
    this.#limits = options.limits;
  }

  /** Starts the threads to keep ready. */
  async warmUp(): Promise<void> {
    for (let count = this.#threads.size; count < this.#limits.warmThreads; count++) {
      this.#idle.push(await this.#start());
    }
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
    if (this.#idle.length <= this.#limits.warmThreads) return;
    setTimeout(() => {
      const surplus = this.#idle.length > this.#limits.warmThreads ? this.#idle.shift() : undefined;
      void surplus?.end();
    }, IDLE_MS).unref();
  }

  async #start(): Promise<GuestThread> {
    const { functions, niceness, interpreter } = this.#options;
    const wasm = await interpreter();
    this.#assertOpen();
    const thread = new GuestThread({ ...this.#limits, wasm, functions, niceness }, (lost) => {
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
