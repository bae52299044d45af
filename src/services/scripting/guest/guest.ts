/**
 * One interpreter per run: QuickJS in a WebAssembly memory of its own, which is discarded when the run has
 * ended. The next run shares nothing with it, not even the consequences of an interpreter bug.
 */
import build from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { OUTPUT_LEVELS } from '../run-request.js';
import type { CallOperation, GuestError, GuestFunction, GuestLine } from './guest-message.js';
import { PRELUDE, PRELUDE_NAME } from './prelude.js';

export interface GuestHost {
  /** Returns the text described in guest-message.ts. A throw becomes an `Error` of the script. */
  call(operation: CallOperation, name: string, argumentsText: string): string;
  print(line: GuestLine): void;
  /** Polled often while the script runs, but not within a long native operation. */
  shouldStop(): boolean;
}

export interface GuestOptions {
  readonly wasm: WebAssembly.Module;
  readonly memoryBytes: number;
  readonly payloadBytes: number;
  readonly functions: readonly GuestFunction[];
}

export type Evaluated =
  | { readonly kind: 'value'; readonly text: string | undefined }
  | { readonly kind: 'error'; readonly error: GuestError };

/** Its types describe the CommonJS form, whose exports are one level deeper. */
const variant = build as unknown as QuickJSSyncVariant;

const PAGE_BYTES = 65_536;
/** The initial memory that the build requires. */
const INITIAL_PAGES = 256;
/** No module has this name. */
const NOTHING = 'campus:nothing';

/**
 * A larger stack would overflow that of WebAssembly itself, which corrupts the memory instead of raising an
 * error.
 */
const STACK_BYTES = 256 * 1024;
const LAST_WORDS_BYTES = 4 * 1024 * 1024;
const OUT_OF_MEMORY: GuestError = { name: 'InternalError', message: 'out of memory', stack: '' };
const JOBS_AT_ONCE = 100;
const LONGEST_LINE = 20_000;

export class Guest {
  readonly #memory: WebAssembly.Memory;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #memoryBytes: number;
  readonly #payloadBytes: number;
  readonly #internals: QuickJSHandle;
  #host: GuestHost | undefined;

  private constructor(quickjs: QuickJSWASMModule, memory: WebAssembly.Memory, options: GuestOptions) {
    this.#memory = memory;
    this.#memoryBytes = options.memoryBytes;
    this.#payloadBytes = options.payloadBytes;
    this.#runtime = quickjs.newRuntime({
      memoryLimitBytes: options.memoryBytes,
      maxStackSizeBytes: STACK_BYTES,
      interruptHandler: () => this.#host?.shouldStop() ?? false,
    });
    this.#context = this.#runtime.newContext();
    this.#internals = this.#buildPlatform(options.functions);
  }

  /** An interpreter with its `platform`, ready for a script; takes some milliseconds. */
  static async create(options: GuestOptions): Promise<Guest> {
    const memory = new WebAssembly.Memory({
      initial: INITIAL_PAGES,
      // A second limit below QuickJS's own, which does not count what crosses its boundary.
      maximum: INITIAL_PAGES + Math.ceil(options.memoryBytes / PAGE_BYTES),
    });
    const quickjs = await newQuickJSWASMModuleFromVariant(
      newVariant(variant, { wasmModule: options.wasm, wasmMemory: memory, emscriptenModule: SILENT }),
    );
    return new Guest(quickjs, memory, options);
  }

  /**
   * Parses a script without running it; the error is a SyntaxError with the position. Once per guest. A
   * module is parsed as a whole before its imports are resolved, and nothing runs before: importing a module
   * that does not exist stops it in between. (The interpreter's own `compileOnly` reads out of bounds for
   * modules.)
   */
  check(host: GuestHost, script: { name: string; code: string }): Evaluated {
    this.#host = host;
    const context = this.#context;
    const read = context.evalCode(`${script.code}\n;import '${NOTHING}';`, script.name, { type: 'module' });
    if (!read.error) return { kind: 'value', text: undefined };
    const evaluated = this.#failed(read.error);
    const isRead = evaluated.kind === 'error' && evaluated.error.message.includes(NOTHING);
    return isRead ? { kind: 'value', text: undefined } : evaluated;
  }

  /**
   * Runs a script to its end, and returns its exported value, with promises awaited, or its error. Once per
   * guest.
   */
  run(host: GuestHost, script: { name: string; code: string; argumentsText: string }): Evaluated {
    this.#host = host;
    const context = this.#context;
    const started = this.#callInternal('start', context.newString(script.argumentsText));
    if (started.error) return this.#failed(started.error);
    const evaluated = context.evalCode(script.code, script.name, { type: 'module' });
    if (evaluated.error) return this.#failed(evaluated.error);
    const namespace = this.#settle(evaluated.value);
    if ('error' in namespace) return this.#failed(namespace.error);
    const called = this.#callInternal('result', namespace.value);
    if (called.error) return this.#failed(called.error);
    const result = this.#settle(called.value);
    const fault = this.#findFault();
    if (fault !== undefined) return this.#failed(fault);
    if ('error' in result) return this.#failed(result.error);
    return this.#readResult(result.value);
  }

  /** The memory in use or, if it ever exceeded the initial size, the peak. */
  get memoryBytes(): number {
    const pages = this.#memory.buffer.byteLength / PAGE_BYTES;
    if (pages > INITIAL_PAGES) return this.#memory.buffer.byteLength;
    const usage = this.#runtime.computeMemoryUsage();
    return this.#context.getNumber(this.#context.getProp(usage, 'memory_used_size'));
  }

  #buildPlatform(functions: readonly GuestFunction[]): QuickJSHandle {
    const context = this.#context;
    const callHost = context.newFunction('callHost', (operation, name, text) => {
      const answer = this.#requireHost().call(
        this.#readText(operation) as CallOperation,
        this.#readText(name),
        this.#readText(text),
      );
      return context.newString(answer);
    });
    const print = context.newFunction('print', (level, text) => {
      const written = this.#readText(level);
      const line = this.#readText(text, LONGEST_LINE);
      this.#requireHost().print({
        at: Date.now(),
        level: OUTPUT_LEVELS.find((one) => one === written) ?? 'info',
        text: line,
      });
    });
    const build = context.unwrapResult(context.evalCode(PRELUDE, PRELUDE_NAME, { type: 'global' }));
    const shapes = context.newString(JSON.stringify(functions));
    return context.unwrapResult(context.callFunction(build, context.undefined, callHost, print, shapes));
  }

  #requireHost(): GuestHost {
    if (this.#host === undefined) throw new Error('the guest is not running');
    return this.#host;
  }

  #callInternal(name: string, ...args: QuickJSHandle[]) {
    return this.#context.callFunction(
      this.#context.getProp(this.#internals, name),
      this.#context.undefined,
      ...args,
    );
  }

  /** Runs pending jobs until none is left, and returns the outcome of a promise. */
  #settle(promise: QuickJSHandle): { readonly value: QuickJSHandle } | { readonly error: QuickJSHandle } {
    const fault = this.#doJobs();
    if (fault !== undefined) return { error: fault };
    const state = this.#context.getPromiseState(promise);
    if (state.type === 'pending') {
      const refused = this.#callInternal('refuseWaiting');
      if (refused.error) return { error: refused.error };
      if (this.#context.dump(refused.value) === true) return this.#settle(promise);
    }
    switch (state.type) {
      case 'fulfilled':
        return { value: state.value };
      case 'rejected':
        return { error: state.error };
      case 'pending':
        return {
          error: this.#context.newError({
            name: 'Error',
            message: 'the script waits for a promise that nothing will settle',
          }),
        };
    }
  }

  /**
   * Runs jobs in batches: an endless chain of short jobs never reaches the point where the interpreter polls
   * for a stop.
   */
  #doJobs(): QuickJSHandle | undefined {
    while (this.#runtime.hasPendingJob()) {
      const done = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      if (done.error) return done.error;
      if (this.#host?.shouldStop())
        return this.#context.newError({ name: 'InternalError', message: 'interrupted' });
    }
    return undefined;
  }

  #findFault(): QuickJSHandle | undefined {
    const thrower = this.#callInternal('throwFault');
    if (thrower.error) return thrower.error;
    const interrupted = this.#doJobs();
    if (interrupted !== undefined) return interrupted;
    return this.#context.callFunction(thrower.value, this.#context.undefined).error;
  }

  #readResult(value: QuickJSHandle): Evaluated {
    if (this.#context.typeof(value) !== 'string') return { kind: 'value', text: undefined };
    try {
      return { kind: 'value', text: this.#readText(value) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'error', error: { name: 'RangeError', message: `the result: ${message}`, stack: '' } };
    }
  }

  #failed(thrown: QuickJSHandle): Evaluated {
    // Raises the limit, because there may be no memory left to report that memory is exhausted.
    this.#runtime.setMemoryLimit(this.#memoryBytes + LAST_WORDS_BYTES);
    if (this.#isOutOfMemory(thrown)) return { kind: 'error', error: OUT_OF_MEMORY };
    const described = this.#callInternal('describe', thrown);
    if (!described.error) {
      const error = JSON.parse(this.#readText(described.value)) as GuestError;
      return { kind: 'error', error };
    }
    // Nothing runs in a stopped guest, but its error can still be read.
    const [name, message, stack] = ['name', 'message', 'stack'].map((key) => this.#readOwnText(thrown, key));
    return { kind: 'error', error: { name: name || 'Error', message: message ?? '', stack: stack ?? '' } };
  }

  /** QuickJS throws null if it has no memory for an error. */
  #isOutOfMemory(thrown: QuickJSHandle): boolean {
    const isNull = this.#context.sameValue(thrown, this.#context.null);
    return isNull && this.#memory.buffer.byteLength >= this.#memoryBytes * 0.9;
  }

  #readOwnText(handle: QuickJSHandle, key: string): string {
    try {
      const value = this.#context.getProp(handle, key);
      return this.#context.typeof(value) === 'string' ? this.#readText(value, LONGEST_LINE) : '';
    } catch {
      return '';
    }
  }

  /** Checks the length first: a guest's text may fill all of its memory. */
  #readText(handle: QuickJSHandle, maxLength = this.#payloadBytes): string {
    const length = this.#context.getNumber(this.#context.getProp(handle, 'length'));
    if (length > maxLength) {
      const error = new Error(
        `what goes in or out of one call has ${maxLength.toLocaleString('en')} characters at most, ` +
          `not ${length.toLocaleString('en')}`,
      );
      error.name = 'RangeError';
      throw error;
    }
    return this.#context.getString(handle);
  }
}

/** The interpreter prints nothing itself; its output is that of the run. */
const SILENT: object = { print: () => {}, printErr: () => {} };
