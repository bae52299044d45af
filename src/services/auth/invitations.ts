/**
 * Invites users by a link, and sends a link to users who have forgotten their password: by mail, or to be
 * handed over.
 */
import { invalidAt, ServiceError } from '../../base/errors.js';
import { toNormalText } from '../../base/model/normal-text.js';
import type { Scope } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import { inOwnTransaction } from '../../store/writing/atomically.js';
import type { AccountLinks, LinkPurpose } from './account-links.js';
import type { UserMailer } from './account-mails.js';
import { LONGEST_USER_NAME } from './authenticator.js';
import { assertUserAdmin, type NewUser, type Users } from './users.js';

/** A user to invite by a link. */
export interface InvitedUser extends Omit<NewUser, 'password' | 'id'> {
  readonly email?: string | undefined;
}

/** A link that was mailed, or that the caller must hand over. */
export interface SentLink {
  readonly userId: string;
  readonly expiresAt: Date;
  /** The address of the page, with the secret after `#`; `undefined` if it was only mailed. */
  readonly link: string | undefined;
}

export interface InvitationsOptions {
  readonly database: Database;
  readonly records: Pick<RecordStore, 'atomically' | 'create'>;
  readonly users: Pick<Users, 'get'>;
  readonly links: AccountLinks;
  readonly mailer: UserMailer;
  /** The public address of the gateway. Absent: links have no host, and none is mailed. */
  readonly publicUrl: string | undefined;
}

export class Invitations {
  readonly #options: InvitationsOptions;

  constructor(options: InvitationsOptions) {
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
    const record = {
      user_name: user.userName,
      name: user.name,
      active: true,
      roles: [...user.roles],
      ...(user.email !== undefined && { email: user.email }),
    };
    const { records } = this.#options;
    return await records.atomically(scope, { writes: ['pltf_user'] }, async (transaction) => {
      const [stored] = await records.create(scope, 'pltf_user', [record], { within: transaction });
      if (!stored) throw new ServiceError('INTERNAL', 'The user was not stored.');
      return await this.#sendLink(transaction, scope, { userId: stored.id, purpose: 'invite' });
    });
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

  async #sendLink(
    transaction: Transaction,
    scope: Scope,
    wanted: { readonly userId: string; readonly purpose: LinkPurpose },
  ): Promise<SentLink> {
    const { links, mailer, users, publicUrl } = this.#options;
    const { token, expiresAt } = await links.create(transaction, scope, wanted);
    const { email, name, userName } = await users.get(scope, wanted.userId, transaction);
    // Browsers do not send the part after # to servers, so it appears in no log.
    const link = `${publicUrl ?? ''}${LINK_PAGE}#${token}`;
    const { domain } = scope;
    if (email === undefined || publicUrl === undefined || !mailer.canSend(domain.id))
      return { userId: wanted.userId, expiresAt, link };
    const words = { domainName: domain.name, name, userName, link, expiresAt: expiresAt.toISOString() };
    await mailer.send(scope, { to: email, ...MAILS[wanted.purpose](words) }, transaction);
    return { userId: wanted.userId, expiresAt, link: undefined };
  }
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
