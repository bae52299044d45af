/** Writes that are executed once, however often they are sent: the first answer is stored with the write. */
import { createHash } from 'node:crypto';
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { type JsonValue, printExactJson } from '../../json.js';
import { credentialName, type Scope } from '../../model/scope.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import { type AtomicOptions, atomically } from './atomically.js';
import type { WriteTriggers } from './write-triggers.js';

/** How long a key is remembered. @see decisions 4 */
export const IDEMPOTENCY_HOURS = 24;
const MAX_KEY_LENGTH = 255;

export interface OnceRequest {
  readonly key: string | undefined;
  /** Identifies the request: two with the same text are the same. */
  readonly text: string;
}

/**
 * Executes the work once per key of a credential within 24 h; a repetition of the same request gets the
 * stored answer. The write and the answer commit together, and of two concurrent requests the second waits
 * for the first. Work that fails leaves nothing behind and can be retried. Without a key the work simply
 * runs, without a transaction of its own.
 *
 * @throws IDEMPOTENCY_CONFLICT (409) if the key was used for another request; MALFORMED_REQUEST for a
 *   malformed key
 * @see decisions 4
 */
export async function idempotently<T extends JsonValue>(
  environment: { readonly database: Database; readonly triggers: WriteTriggers },
  scope: Scope,
  request: AtomicOptions & OnceRequest,
  work: (tx?: Transaction) => Promise<T>,
): Promise<T> {
  const { key, text, within, writes } = request;
  if (key === undefined) return await work(within);
  assertKey(key);
  const hash = createHash('sha256').update(text).digest();
  const credential = credentialName(scope.principal.credential);
  const owner = Prisma.sql`domain_id = ${scope.domain.id} and credential = ${credential} and key = ${key}`;
  return await atomically(environment, scope, { within, writes }, async (tx) => {
    // Computed here, because Citus does not allow clock functions in `on conflict`.
    const outdated = new Date(Date.now() - IDEMPOTENCY_HOURS * 3_600_000);
    // Waits for a transaction that holds the same key.
    const claimed = await tx.query(Prisma.sql`
      insert into idempotency_keys (domain_id, credential, key, request_hash, created_at)
      values (${scope.domain.id}, ${credential}, ${key}, ${hash}, now())
      on conflict (domain_id, credential, key) do update
        set request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
        where idempotency_keys.created_at < ${outdated.toISOString()}::timestamptz
      returning 1`);
    if (claimed.length === 0) return await firstAnswer<T>(tx, { owner, hash, key });
    const answer = await work(tx);
    // Stored as JSON text within JSON, because jsonb would reorder the members, and the repeated answer must
    // be identical to the letter.
    await tx.query(Prisma.sql`
      update idempotency_keys
      set answer = to_jsonb(${printExactJson(answer)}::text)
      where ${owner}`);
    return answer;
  });
}

async function firstAnswer<T extends JsonValue>(
  tx: Transaction,
  kept: { readonly owner: Prisma.Sql; readonly hash: Buffer; readonly key: string },
): Promise<T> {
  const [row] = await tx.query<{ answer: string; is_same: boolean }>(Prisma.sql`
    select answer #>> '{}' as answer, request_hash = ${kept.hash} as is_same
    from idempotency_keys
    where ${kept.owner}`);
  if (row?.is_same) return JSON.parse(row.answer);
  throw new ServiceError(
    'IDEMPOTENCY_CONFLICT',
    `the idempotency key "${kept.key}" was used for another request within ${IDEMPOTENCY_HOURS} h; ` +
      'take a new one',
    { errors: [{ parameter: 'Idempotency-Key', detail: 'used for another request', sent: kept.key }] },
  );
}

function assertKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= MAX_KEY_LENGTH) return;
  const expected = `1 to ${MAX_KEY_LENGTH} printable ASCII characters without spaces`;
  throw new ServiceError('MALFORMED_REQUEST', `an idempotency key is ${expected}`, {
    errors: [{ parameter: 'Idempotency-Key', detail: 'not a key', expected, sent: key.slice(0, 100) }],
  });
}
