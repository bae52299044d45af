/**
 * Answers the calls of a run: finds the binding, validates its arguments, and formats the result for the
 * guest.
 */

import { invariant, ServiceError } from '../../base/errors.js';
import { isNestedDeeply } from '../../base/json/body-shape.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../base/json/json.js';
import { withCall } from '../../base/model/scope.js';
import { JsonText } from '../../base/scalars/json-text.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { FairQueue, Permit, QueueKey } from '../../store/database/fair-queue.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { CallMessage } from './guest-thread.js';
import {
  type FunctionBinding,
  type HostBinding,
  type HostCallContext,
  ScriptFailure,
  type StreamBinding,
} from './platform/host-binding.js';
import type { ScriptError } from './run-request.js';
import { printLimit, type ScriptLimits } from './script-settings.js';

export interface HostCallsOptions {
  readonly bindings: ReadonlyMap<string, HostBinding>;
  readonly limits: ScriptLimits;
  readonly openStreams: FairQueue;
  readonly context: HostCallContext;
  readonly onFault: (task: string, error: unknown) => void;
}

type Batch = readonly (JsonValue | JsonText)[];

interface Cursor {
  readonly batches: AsyncIterator<Batch>;
  /** The rest of a batch that was too large for one answer. */
  readonly pending: Batch[];
  /** Absent: it uses the connection of a transaction. */
  readonly permit: Permit | undefined;
}

const ALL_SCRIPTS: QueueKey = { tenant: '', caller: '' };
const ROLLED_BACK = new Error('the script rolled its transaction back');

export class HostCalls {
  readonly #options: HostCallsOptions;
  readonly #callsByName = new Map<string, number>();
  readonly #cursors = new Map<number, Cursor>();
  #lastCursor = 0;
  #context: HostCallContext;
  /** The open transaction of the script; `end` returns once it is committed or rolled back. */
  #transaction: { readonly end: (outcome: 'commit' | 'rollback') => Promise<void> } | undefined;
  #answering: Promise<string> | undefined;
  #isAnswering = false;

  constructor(options: HostCallsOptions) {
    this.#options = options;
    this.#context = options.context;
  }

  /** `+` and the JSON of the value, or `-` and that of an error. Never throws. */
  async answer(call: CallMessage): Promise<string> {
    // A guest waits for each answer. Two calls at once would share a savepoint, and one would undo the other.
    invariant(!this.#isAnswering, 'a guest makes one call at a time');
    this.#isAnswering = true;
    try {
      this.#answering = this.#answerOrRefuse(call);
      return await this.#answering;
    } finally {
      this.#isAnswering = false;
    }
  }

  /**
   * Waits for the call in progress, which the run's signal has aborted, and closes what the script left open.
   */
  async close(): Promise<void> {
    await this.#answering;
    for (const id of this.#cursors.keys()) await this.#closeStream(id);
    await this.#transaction?.end('rollback');
  }

  async #answerOrRefuse(call: CallMessage): Promise<string> {
    try {
      const text = await this.#perform(call);
      if (text.length <= this.#options.limits.payloadBytes) return `+${text}`;
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `the result of ${call.name} is larger than ${printLimit(this.#options.limits, 'payloadBytes')}; ` +
          'request less at once, or stream it',
      );
    } catch (error) {
      return `-${JSON.stringify(this.#toRefusal(call, error))}`;
    }
  }

  async #perform(call: CallMessage): Promise<string> {
    await this.#context.scope.call.assertRights?.();
    switch (call.operation) {
      case 'begin':
        return await this.#begin();
      case 'commit':
      case 'rollback':
        await this.#endTransaction(call.operation);
        return '';
    }
    const binding = this.#options.bindings.get(call.name);
    if (binding === undefined) throw unknownMember(call.name, this.#options.bindings);
    if (this.#context.scope.call.readsOnly && binding.changes) {
      const detail = `platform.${call.name} changes something: it is for a script with @mutation, not @query`;
      throw new ServiceError('FORBIDDEN', detail);
    }
    const args = parseArguments(call.argumentsText);
    switch (call.operation) {
      case 'call':
        return await this.#callFunction(asFunction(binding), args);
      case 'open':
        return await this.#openStream(asStream(binding), args);
      case 'next':
        return await this.#readNext(Number(args[0]));
      case 'close':
        await this.#closeStream(Number(args[0]));
        return '';
    }
  }

  async #callFunction(binding: FunctionBinding, args: readonly JsonValue[]): Promise<string> {
    this.#count(binding);
    const value = await binding.call(this.#context, args);
    if (value === undefined) return '';
    return printAnswer(value);
  }

  async #openStream(binding: StreamBinding, args: readonly JsonValue[]): Promise<string> {
    this.#count(binding);
    const context = this.#context;
    const batches = binding.open(context, args)[Symbol.asyncIterator]();
    // Within a transaction, a stream uses the transaction's connection.
    const permit = context.within === undefined ? await this.#acquireStream() : undefined;
    this.#lastCursor += 1;
    this.#cursors.set(this.#lastCursor, { batches, pending: [], permit });
    return String(this.#lastCursor);
  }

  /**
   * Only a run without an open stream waits here: two runs that hold streams could wait for each other. The
   * guest waits until it has closed one (guest/prelude.ts).
   */
  async #acquireStream(): Promise<Permit> {
    const { openStreams, limits } = this.#options;
    if (this.#cursors.size === 0) return await openStreams.acquire(ALL_SCRIPTS, this.#context);
    const permit =
      this.#cursors.size < Math.ceil(limits.streams / 2) ? openStreams.tryAcquire(ALL_SCRIPTS) : undefined;
    if (permit !== undefined) return permit;
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `this script has ${this.#cursors.size} streams open, and no further one is free ` +
        `(${printLimit(limits, 'streams')} for all scripts, half of them for one); close one first`,
    );
  }

  /** Begins a transaction that later calls use, until the script ends it. */
  async #begin(): Promise<string> {
    if (this.#transaction !== undefined) {
      throw new ServiceError(
        'MALFORMED_REQUEST',
        'a transaction of this script is open already: await platform.transaction(…) before the next one',
      );
    }
    const { context } = this.#options;
    await new Promise<void>((begun, failed) => {
      const work = async (within: Transaction) => {
        // The gateway cannot repeat what the script did, even where the commit ran into a deadlock.
        if (this.#transaction !== undefined) {
          throw new ServiceError(
            'UNAVAILABLE',
            'the transaction could not be committed; run the script again',
          );
        }
        const ended = new Promise<void>((commit, reject) => {
          const end = async (outcome: 'commit' | 'rollback') => {
            if (outcome === 'commit') commit();
            else reject(ROLLED_BACK);
            await done;
          };
          this.#transaction = { end };
        });
        // A check of the rights could wait for a second connection.
        const scope = withCall(context.scope, { assertRights: undefined });
        this.#context = { ...context, within, scope };
        begun();
        await ended;
      };
      const done = context
        .transaction(work)
        .catch((error) => {
          failed(error);
          if (error !== ROLLED_BACK) throw error;
        })
        .finally(() => {
          this.#transaction = undefined;
          this.#context = context;
        });
      done.catch(() => {});
    });
    return '';
  }

  async #endTransaction(outcome: 'commit' | 'rollback'): Promise<void> {
    // Their cursors end with the transaction.
    for (const [id, { permit }] of this.#cursors) if (permit === undefined) await this.#closeStream(id);
    await this.#transaction?.end(outcome);
  }

  async #readNext(id: number): Promise<string> {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) throw new ServiceError('NOT_FOUND', 'this stream is closed');
    const batch = cursor.pending.shift() ?? (await readBatch(cursor));
    if (batch === undefined) {
      this.#cursors.delete(id);
      cursor.permit?.release();
      return '{"records":[],"isLast":true}';
    }
    return `{"records":${this.#printBatch(cursor, batch)},"isLast":false}`;
  }

  /** Rows that do not fit into one answer are kept for the next. */
  #printBatch(cursor: Cursor, batch: Batch): string {
    const text = `[${batch.map(printAnswer).join(',')}]`;
    // Leaves room for the surrounding text.
    if (text.length + 100 <= this.#options.limits.payloadBytes || batch.length <= 1) return text;
    const half = Math.ceil(batch.length / 2);
    cursor.pending.unshift(batch.slice(half));
    return this.#printBatch(cursor, batch.slice(0, half));
  }

  async #closeStream(id: number): Promise<void> {
    const cursor = this.#cursors.get(id);
    if (cursor === undefined) return;
    this.#cursors.delete(id);
    try {
      await cursor.batches.return?.();
    } catch (error) {
      // The script has what it wanted, or has itself ended.
      if (!this.#options.context.signal.aborted) this.#options.onFault('closing a stream of a script', error);
    } finally {
      cursor.permit?.release();
    }
  }

  #count(binding: HostBinding): void {
    if (binding.maxCalls === undefined) return;
    const calls = (this.#callsByName.get(binding.name) ?? 0) + 1;
    this.#callsByName.set(binding.name, calls);
    if (calls <= binding.maxCalls) return;
    throw new ServiceError(
      'LIMIT_EXCEEDED',
      `a run calls platform.${binding.name} at most ${binding.maxCalls.toLocaleString('en')} times`,
    );
  }

  #toRefusal(call: CallMessage, error: unknown): Pick<ScriptError, 'message' | 'code' | 'status' | 'errors'> {
    if (error instanceof ServiceError || error instanceof ScriptFailure) {
      const { code, status, errors } = error instanceof ServiceError ? error : error.error;
      return { message: error.message, code, status, errors };
    }
    if (this.#options.context.signal.aborted) return { message: 'the run has ended' };
    this.#options.onFault(`platform.${call.name}`, error);
    return {
      message:
        `a fault of the gateway in platform.${call.name}; it is in the log with the run ` +
        `${this.#options.context.run.id}`,
      code: 'INTERNAL',
      status: 500,
    };
  }
}

function parseArguments(text: string): readonly JsonValue[] {
  try {
    const args = isNestedDeeply(text) ? undefined : parsePlainJson(text);
    if (Array.isArray(args)) return args;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
  throw new ServiceError('MALFORMED_REQUEST', 'the arguments are not valid JSON, or are nested too deeply');
}

function asFunction(binding: HostBinding): FunctionBinding {
  if (binding.kind === 'function') return binding;
  throw new ServiceError('MALFORMED_REQUEST', `platform.${binding.name} is a stream`);
}

function asStream(binding: HostBinding): StreamBinding {
  if (binding.kind === 'stream') return binding;
  throw new ServiceError('MALFORMED_REQUEST', `platform.${binding.name} is not a stream`);
}

async function readBatch(cursor: Cursor): Promise<Batch | undefined> {
  const { done, value } = await cursor.batches.next();
  return done ? undefined : value;
}

/** The result of a binding as JSON text. */
function printAnswer(value: JsonValue | JsonText): string {
  return value instanceof JsonText ? value.text : printExactJson(value);
}

/** Names the nearest member, or all members of the object. */
function unknownMember(name: string, bindings: ReadonlyMap<string, HostBinding>): ServiceError {
  const names = [...bindings.keys(), 'print', 'transaction'];
  const room = name.slice(0, name.lastIndexOf('.') + 1);
  const siblings = names.filter((one) => one.startsWith(room) && !one.slice(room.length).includes('.'));
  const near = didYouMean(name, names) || ` There are ${siblings.join(', ')}.`;
  return new ServiceError('NOT_FOUND', `platform.${name} does not exist.${near}`);
}
