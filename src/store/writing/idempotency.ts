/**
 * Writes that are done once, however often they are sent: the first answer is kept with the write that made
 * it.
 */
import { createHash } from 'node:crypto';
import { ServiceError } from '../../errors.js';
import { Prisma } from '../../generated/prisma/client.js';
import { type JsonValue, printExactJson } from '../../json.js';
import { credentialName, type Scope } from '../../model/scope.js';
import type { Database, Transaction } from '../database/database.js';
import { type AtomicOptions, atomically } from './atomically.js';
import type { WriteTriggers } from './write-triggers.js';

/** How long a key is remembered. @see decisions 4 */
export const IDEMPOTENCY_HOURS = 24;
const MAX_KEY_LENGTH = 255;

export interface OnceRequest {
  readonly key: string | undefined;
  /** All that makes two requests the same. */
  readonly text: string;
}

/**
 * Does the work once per key of a credential within 24 h; sent again with the same request, gives the first
 * answer again. The write and the stored answer commit together. Of two that arrive at once, the second waits
 * for the first. Work that fails leaves nothing behind and may be tried again. Without a key the work is
 * simply done, without a transaction of its own.
 *
 * @throws IDEMPOTENCY_CONFLICT (409) when the key came with another request; MALFORMED_REQUEST for a key that
 * is none
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
    // Reckoned here: Citus lets the conflict of an insert ask for nothing that depends on the clock.
    const outdated = new Date(Date.now() - IDEMPOTENCY_HOURS * 3_600_000);
    // Waits here for a transaction that holds the same key.
    const claimed = await tx.query(Prisma.sql`
      insert into idempotency_keys (domain_id, credential, key, request_hash, created_at)
      values (${scope.domain.id}, ${credential}, ${key}, ${hash}, now())
      on conflict (domain_id, credential, key) do update
        set request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
        where idempotency_keys.created_at < ${outdated.toISOString()}::timestamptz
      returning 1`);
    if (claimed.length === 0) return await firstAnswer<T>(tx, { owner, hash, key });
    const answer = await work(tx);
    // A JSON text inside JSON: jsonb would reorder its members, and the second answer must be the first to
    // the letter.
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
