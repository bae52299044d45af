/** Single-use links that set a password: an invitation, or a reset of a forgotten password. */
import { ServiceError } from '../../base/errors.js';
import type { Scope } from '../../base/model/scope.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { OnAccountChange } from './account-mails.js';
import { findPasswordOwner, type Passwords } from './passwords.js';
import { findUser, type Principals, type UserRef } from './principals.js';
import { createOpaqueSecret, hashOpaqueSecret } from './service-secret.js';
import { replacePassword } from './sessions.js';

export type LinkPurpose = 'invite' | 'reset';

export interface NewLink {
  /** The secret itself, which is not stored. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** The content of a link. */
export interface OpenedLink {
  readonly purpose: LinkPurpose;
  readonly userName: string;
  readonly name: string;
  /** The domain in which its user logs in. */
  readonly domainId: string;
  readonly domainName: string;
  readonly expiresAt: Date;
}

interface StoredLink extends OpenedLink, UserRef {}

const HOUR_MS = 3_600_000;
const LIFE_HOURS: Readonly<Record<LinkPurpose, number>> = { invite: 7 * 24, reset: 24 };
const MOST_REMOVED = 1_000;

interface AccountLinksOptions {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly principals: Principals;
  readonly onChange?: OnAccountChange;
}

export class AccountLinks {
  readonly #options: AccountLinksOptions;

  constructor(options: AccountLinksOptions) {
    this.#options = options;
  }

  /**
   * Creates a link in the caller's transaction; earlier links of the user end. The caller has checked the
   * right to do so.
   */
  async create(
    transaction: Queryable,
    scope: Scope,
    { userId, purpose }: { readonly userId: string; readonly purpose: LinkPurpose },
  ): Promise<NewLink> {
    const token = createOpaqueSecret('cgl');
    const expiresAt = new Date(Date.now() + LIFE_HOURS[purpose] * HOUR_MS);
    await endLinks(transaction, { domainId: scope.domain.id, userId });
    await transaction.query(
      auditedAct(scope, { collection: '$accountLink', id: userId, operation: 'created' }),
    );
    await transaction.query(sql`
      insert into account_links (token_hash, domain_id, user_id, purpose, created_by, expires_at)
      values (${hashOpaqueSecret(token)}, ${scope.domain.id}, ${userId}, ${purpose}, ${scope.principal.id},
        ${expiresAt}::timestamptz)`);
    await transaction.query(sql`
      delete from account_links
      where token_hash in (
        select token_hash from account_links where expires_at < now() limit ${MOST_REMOVED}::int
      )`);
    return { token, expiresAt };
  }

  /** @throws NOT_FOUND (404), the same whether it never existed, was used, has expired or was replaced */
  async open(token: string): Promise<OpenedLink> {
    return await this.#get(this.#options.database, token);
  }

  /**
   * Sets the password of the link's user, and ends its sessions and all its links.
   *
   * @throws NOT_FOUND (404) as `open`; INVALID_VALUE (400) for an unacceptable password, after which the link
   *   is still valid
   */
  async use(token: string, password: string, requestId: string): Promise<void> {
    // Checked first, because a password hash is expensive: nobody should cause one without a valid link.
    const user = await this.#get(this.#options.database, token);
    const { owner, presentHash } = await findPasswordOwner(this.#options.database, user);
    const passwordHash = await this.#options.passwords.hashChosen(password, owner, presentHash);
    await inOwnTransaction(this.#options.database, async (transaction) => {
      const link = await this.#get(transaction, token, sql`for update`);
      await endLinks(transaction, link);
      const principal = { id: link.userId, credential: { kind: 'system', id: 'account link' } } as const;
      const by = { domain: { id: link.domainId }, principal, call: { requestId } };
      await replacePassword(transaction, link, passwordHash, by);
    });
    this.#options.principals.forget(user.domainId, user.userId);
    this.#options.onChange?.(user, 'password');
  }

  async #get(database: Queryable, token: string, lock: Sql = sql.empty): Promise<StoredLink> {
    const [link] = await database.query<Omit<StoredLink, 'userName' | 'name'>>(sql`
      select domain_id as "domainId", user_id as "userId", purpose, expires_at as "expiresAt",
        (select d.name from domains d where d.id = domain_id) as "domainName"
      from account_links
      where token_hash = ${hashOpaqueSecret(token)} and used_at is null and expires_at > now()
      ${lock}`);
    // A separate query, because the server that has the records is known only with the domain.
    const user = link && (await findUser(database, link));
    if (link && user?.isActive) return { ...link, userName: user.userName, name: user.name };
    throw new ServiceError(
      'NOT_FOUND',
      'This link was used, has expired or was replaced. Ask for a new one.',
    );
  }
}

async function endLinks(database: Queryable, { domainId, userId }: UserRef): Promise<void> {
  await database.query(sql`
    update account_links
    set used_at = now()
    where domain_id = ${domainId} and user_id = ${userId} and used_at is null`);
}
