/** Executes a request's writes: once per `Idempotency-Key`, and within the transaction of its operation. */
import { type JsonValue, printExactJson } from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';
import type { StoredRecord } from '../../../store/reading/stored-record.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { WriteOptions } from '../../../store/writing/atomically.js';
import type { Writes } from '../../../store/writing/write-triggers.js';
import { type RequestContext, requireScope } from '../request-context.js';

export interface OnceWrite<T, Kept extends JsonValue> {
  /** The collections it writes to. */
  readonly writes: Writes;
  /** Identifies the request: two with the same value are the same. */
  readonly request: () => JsonValue;
  /** How many records it goes through to find those it writes. Default: few. */
  readonly rows?: ((scope: Scope) => number) | undefined;
  readonly run: (scope: Scope, options: WriteOptions) => Promise<T>;
  /** Converts the answer to the form that is stored with the key, and back. */
  readonly keep: (answer: T) => Kept;
  readonly recall: (kept: Kept) => T;
}

/**
 * Runs a write once per key: a repetition gets the first answer. Without a key it simply runs.
 *
 * @see idempotently
 */
export async function writeOnce<T, Kept extends JsonValue>(
  store: RecordStore,
  context: RequestContext,
  write: OnceWrite<T, Kept>,
): Promise<T> {
  const scope = requireScope(context);
  const { idempotencyKey, transaction } = context;
  if (idempotencyKey === undefined) return await write.run(scope, { within: transaction });
  const kept = await store.idempotently(
    scope,
    {
      key: idempotencyKey,
      text: printExactJson(write.request()),
      writes: write.writes,
      within: transaction,
      rows: write.rows?.(scope),
    },
    async (within) => write.keep(await write.run(scope, { within })),
  );
  return write.recall(kept);
}

/** A stored record as it is kept for an idempotency key. */
export type KeptRecord = {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly json: string;
};

export function keepRecord(record: StoredRecord): KeptRecord {
  return {
    id: record.id,
    version: record.version,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
    json: record.json,
  };
}

export function recallRecord(kept: KeptRecord): StoredRecord {
  return { ...kept, createdAt: new Date(kept.createdAt), updatedAt: new Date(kept.updatedAt) };
}
