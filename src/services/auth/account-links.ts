/**
 * Single-use links that set a password: an invitation, or a reset of a forgotten password. They are mailed,
 * or handed over by an admin.
 */
import { invalidAt, ServiceError } from '../../base/errors.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { Scope } from '../../base/model/scope.js';
import { auditedAct } from '../../store/audited-act.js';
import type { Database } from '../../store/database/database.js';
import type { Queryable, Transaction } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { OnAccountChange, UserMailer } from './account-mails.js';
import { LONGEST_USER_NAME } from './authenticator.js';
import { findPasswordOwner, type Passwords } from './passwords.js';
import { findUser, type Principals, type UserRef } from './principals.js';
import { createOpaqueSecret, hashOpaqueSecret } from './service-secret.js';
import { replacePassword } from './sessions.js';
import { assertUserAdmin, type NewUser, type Users } from './users.js';

type LinkPurpose = 'invite' | 'reset';

/** A user to invite by a link. */
export type InvitedUser = Omit<NewUser, 'password' | 'id'>;

/** A link that was mailed, or that the caller must hand over. */
export interface SentLink {
  readonly userId: string;
  readonly expiresAt: Date;
  /** The address of the page, with the secret after `#`; `undefined` if it was only mailed. */
  readonly link: string | undefined;
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

interface AccountLinksOptions {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly principals: Principals;
  readonly users: Pick<Users, 'addWith' | 'get'>;
  readonly mailer: UserMailer;
  /** The public address of the gateway. Absent: links have no host, and none is mailed. */
  readonly publicUrl: string | undefined;
  readonly onChange?: OnAccountChange;
}

export class AccountLinks {
  readonly #options: AccountLinksOptions;

  constructor(options: AccountLinksOptions) {
    this.#options = options;
  }

  /**
   * Adds a user without a password, and creates the link to set one.
   *
   * @throws FORBIDDEN (403), INVALID_VALUE (400), CONFLICT (409) if the user name is taken
   */
  async invite(scope: Scope, user: InvitedUser): Promise<SentLink> {
    assertUserAdmin(scope);
    assertUserName(user.userName);
    return await this.#options.users.addWith(scope, user, (transaction, userId) =>
      this.#sendLink(transaction, scope, { userId, purpose: 'invite' }),
    );
  }

  /**
   * Creates a new link for a user: an invitation if the user has no password yet, else a reset. The password
   * stays valid until the link is used.
   *
   * @throws FORBIDDEN (403), NOT_FOUND (404)
   */
  async sendLink(scope: Scope, userId: string): Promise<SentLink> {
    return await inOwnTransaction(this.#options.database, async (transaction) => {
      const user = await this.#options.users.get(scope, userId, transaction);
      if (!user.isActive) throw new ServiceError('CONFLICT', `${user.userName} is not active.`);
      const purpose = user.hasPassword ? 'reset' : 'invite';
      return await this.#sendLink(transaction, scope, { userId, purpose });
    });
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

  /** Creates a link and mails it, if it can be mailed; earlier links of the user end. */
  async #sendLink(
    transaction: Transaction,
    scope: Scope,
    { userId, purpose }: { readonly userId: string; readonly purpose: LinkPurpose },
  ): Promise<SentLink> {
    const { mailer, users, publicUrl } = this.#options;
    const { domain } = scope;
    const token = createOpaqueSecret('cgl');
    const expiresAt = new Date(Date.now() + LIFE_HOURS[purpose] * HOUR_MS);
    await endLinks(transaction, { domainId: domain.id, userId });
    await transaction.query(
      auditedAct(scope, { collection: '$accountLink', id: userId, operation: 'created' }),
    );
    await transaction.query(sql`
      insert into account_links (token_hash, domain_id, user_id, purpose, created_by, expires_at)
      values (${hashOpaqueSecret(token)}, ${domain.id}, ${userId}, ${purpose}, ${scope.principal.id},
        ${expiresAt}::timestamptz)`);
    const { email, name, userName } = await users.get(scope, userId, transaction);
    // Browsers do not send the part after # to servers, so it appears in no log.
    const link = `${publicUrl ?? ''}${LINK_PAGE}#${token}`;
    if (email === undefined || publicUrl === undefined || !mailer.canSend(domain.id))
      return { userId, expiresAt, link };
    const words = { domainName: domain.name, name, userName, link, expiresAt: expiresAt.toISOString() };
    await mailer.send(scope, { to: email, ...MAILS[purpose](words) }, transaction);
    return { userId, expiresAt, link: undefined };
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

/** A user with another kind of name could never log in. @throws INVALID_VALUE (400) */
function assertUserName(userName: string): void {
  if (toNormalText(userName) !== '' && userName.length <= LONGEST_USER_NAME) return;
  const detail = `A user name has 1 to ${LONGEST_USER_NAME} characters.`;
  throw invalidAt(detail, { parameter: 'userName' });
}

/** The portal's page for links. */
const LINK_PAGE = '/welcome';

interface MailWords {
  readonly domainName: string;
  readonly name: string;
  readonly userName: string;
  readonly link: string;
  readonly expiresAt: string;
}

const MAILS: Readonly<Record<LinkPurpose, (words: MailWords) => { subject: string; text: string }>> = {
  invite: ({ domainName, name, userName, link, expiresAt }) => ({
    subject: `Your account at ${domainName}`,
    text:
      `Dear ${name},\n\nan account was made for you at ${domainName}. Your user name is ${userName}. ` +
      `Choose a password here:\n\n${link}\n\nThe link works once, until ${expiresAt}.\n`,
  }),
  reset: ({ domainName, name, userName, link, expiresAt }) => ({
    subject: `A new password for ${domainName}`,
    text:
      `Dear ${name},\n\nset a new password for ${userName} at ${domainName} here:\n\n${link}\n\n` +
      `The link works once, until ${expiresAt}. If you did not ask for it, tell your office.\n`,
  }),
};
