/** Writes that are executed once, however often they are sent: the first answer is stored with the write. */
import { hash } from 'node:crypto';
import { faultAt } from '../../base/errors.js';
import { type JsonValue, printExactJson } from '../../base/json/json.js';
import { credentialName, type KeyScopes, type Principal, type Scope } from '../../base/model/scope.js';
import type { Database } from '../database/database.js';
import type { Transaction } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';
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
 * Executes the work once per key of a user within 24 h; a repetition of the same request gets the stored
 * answer, whichever session, API key or token of the user with the same rights sends it. The write and the
 * answer commit together, and of two concurrent requests the second waits for the first. Work that fails
 * leaves nothing behind and can be retried. Without a key the work simply runs, without a transaction of its
 * own.
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
  const { principal } = scope;
  const owner = idempotencyOwner(principal);
  const requestHash = hash('sha256', text, 'buffer');
  return await atomically(environment, scope, { within, writes }, async (tx) => {
    // Computed here, because Citus does not allow clock functions in `on conflict`.
    const outdated = new Date(Date.now() - IDEMPOTENCY_HOURS * 3_600_000).toISOString();
    const claim = async (credential: string) => {
      const claimed = await tx.query(sql`
        insert into idempotency_keys (domain_id, credential, key, request_hash, created_at)
        values (${scope.domain.id}, ${credential}, ${key}, ${requestHash}, now())
        on conflict (domain_id, credential, key) do update
          set request_hash = excluded.request_hash, answer = null, created_at = excluded.created_at
          where idempotency_keys.created_at < ${outdated}::timestamptz
        returning 1`);
      return claimed.length > 0;
    };
    // Stored as JSON text within JSON, because jsonb would reorder the members, and the repeated answer must
    // be identical to the letter.
    const keep = (answer: T) =>
      tx.query(sql`
        update idempotency_keys
        set answer = to_jsonb(${printExactJson(answer)}::text)
        where ${ofKey} and credential in (${owner}, ${credentialName(principal.credential)})`);
    const ofKey = sql`domain_id = ${scope.domain.id} and key = ${key}`;
    // Waits for a transaction that holds the same key.
    if (!(await claim(owner))) {
      return await firstAnswer<T>(tx, { row: sql`${ofKey} and credential = ${owner}`, requestHash, key });
    }
    // Gateways of the version before this one keep answers under the credential, and look only there.
    const earlierName = credentialName(principal.credential);
    const isClaimed = earlierName === owner || (await claim(earlierName));
    const earlierNames = isClaimed ? await listEarlierNames(tx, principal) : [earlierName];
    const isEarlier = sql`${ofKey} and credential = any(${[...earlierNames]}::text[])
      and created_at >= ${outdated}::timestamptz`;
    const [earlier] =
      earlierNames.length === 0 ? [] : await tx.query(sql`select 1 from idempotency_keys where ${isEarlier}`);
    if (earlier !== undefined) {
      const answered = await firstAnswer<T>(tx, { row: isEarlier, requestHash, key });
      await keep(answered);
      return answered;
    }
    const answer = await work(tx);
    await keep(answer);
    return answer;
  });
}

async function firstAnswer<T extends JsonValue>(
  tx: Transaction,
  kept: { readonly row: Sql; readonly requestHash: Buffer; readonly key: string },
): Promise<T> {
  const [row] = await tx.query<{ answer: string; is_same: boolean }>(sql`
    select answer #>> '{}' as answer, request_hash = ${kept.requestHash} as is_same
    from idempotency_keys
    where ${kept.row}`);
  if (row?.is_same) return JSON.parse(row.answer);
  throw faultAt(
    'IDEMPOTENCY_CONFLICT',
    `the idempotency key "${kept.key}" was used for another request within ${IDEMPOTENCY_HOURS} h; ` +
      'use a new one',
    { parameter: 'Idempotency-Key', detail: 'used for another request', sent: kept.key },
  );
}

/**
 * The names under which the version before this one kept the answers of the user's other sessions, or of the
 * user's API keys with the same rights.
 */
async function listEarlierNames(
  tx: Transaction,
  { kind, id, domainId, credential }: Principal,
): Promise<readonly string[]> {
  if (kind !== 'user' || credential.part !== undefined) return [];
  const rows = await tx.query<{ id: string }>(
    credential.kind === 'token'
      ? sql`
        select id::text from sessions
        where domain_id = ${domainId} and user_id = ${id} and id::text <> ${credential.id}`
      : sql`
        select other.id::text
        from api_keys own
        join api_keys other on other.domain_id = own.domain_id and other.user_id = own.user_id
          and other.scopes = own.scopes and other.id <> own.id
        where own.domain_id = ${domainId} and own.user_id = ${id} and own.id::text = ${credential.id}`,
  );
  return rows.map((row) => `${credential.kind}:${row.id}`);
}

/**
 * The owner of the key: the user, with any of its credentials. Credentials with less than the rights of the
 * user share keys only with those that have the same rights, so that none gets a response that it could not
 * have produced.
 */
export function idempotencyOwner({ kind, id, domainId, credential, roles, scopes }: Principal): string {
  if (kind === 'system') return credentialName(credential);
  const user = `user:${domainId}/${id}`;
  if (scopes === undefined && credential.part === undefined) return user;
  // An API key has the roles of its user; a token with a part of the rights has roles of its own.
  const ownRoles = credential.part === undefined ? null : [...roles].sort();
  const rights = JSON.stringify([ownRoles, scopes === undefined ? null : sortedScopes(scopes)]);
  return `${user}/${hash('sha256', rights, 'base64url')}`;
}

function sortedScopes({ collections, reports, scripts }: KeyScopes): unknown {
  const verbs = Object.entries(collections).map(([name, list]) => [name, [...list].sort()] as const);
  return [verbs.sort(([one], [other]) => (one < other ? -1 : 1)), [...reports].sort(), [...scripts].sort()];
}

function assertKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= MAX_KEY_LENGTH) return;
  const expected = `1 to ${MAX_KEY_LENGTH} printable ASCII characters without spaces`;
  throw faultAt('MALFORMED_REQUEST', `an idempotency key is ${expected}`, {
    parameter: 'Idempotency-Key',
    detail: 'not a key',
    expected,
    sent: key.slice(0, 100),
  });
}
