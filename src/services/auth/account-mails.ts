/** Mails users about changes of their accounts. */

import { type Domain, type Scope, systemPrincipal } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { Transaction } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { findUser, type UserRef } from './principals.js';

/** A change that the owner of an account is mailed about. */
export type AccountChange = 'password' | 'email' | 'secondFactor' | 'key';

/** Called after a change is committed. */
export type OnAccountChange = (user: UserRef, change: AccountChange) => void;

/** Sends mail to users, if there is a mail server. */
export interface UserMailer {
  /** Whether mail can be sent to users of the domain. */
  canSend(domainId: string): boolean;
  send(
    scope: Scope,
    mail: { readonly to: string; readonly subject: string; readonly text: string },
    within?: Transaction,
  ): Promise<unknown>;
}

/** More changes at once are those of a program, e.g. an import of users. */
const MOST_WAITING = 1_000;

interface AccountMailsOptions {
  readonly database: Database;
  readonly domains: { find(id: string): Domain | undefined };
  readonly mailer: UserMailer;
  readonly onFault: (error: unknown) => void;
}

/** Mails the owner of an account about a change of it, if the domain has a mail server. */
export class AccountMails {
  readonly #options: AccountMailsOptions;
  #sending: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: AccountMailsOptions) {
    this.#options = options;
  }

  /**
   * Queues a mail, one after the other. `email`: if the last change of the record changed the address, the
   * former one is notified. Faults are reported, because the change itself has succeeded.
   */
  send(user: UserRef, change: AccountChange): void {
    if (this.#waiting >= MOST_WAITING || !this.#options.mailer.canSend(user.domainId)) return;
    this.#waiting += 1;
    this.#sending = this.#sending.then(async () => {
      await this.#send(user, change);
      this.#waiting -= 1;
    });
  }

  async close(): Promise<void> {
    await this.#sending;
  }

  async #send({ domainId, userId }: UserRef, change: AccountChange): Promise<void> {
    const { database, domains, mailer, onFault } = this.#options;
    try {
      const domain = domains.find(domainId);
      if (domain === undefined) return;
      const user = await findUser(database, { domainId, userId });
      const to = change === 'email' ? await this.#formerEmail({ domainId, userId }) : user?.email;
      if (!to) return;
      const principal = systemPrincipal('account mails', ['admin'], domainId);
      await mailer.send(
        { domain, principal, call: { requestId: 'account mails' } },
        { to, ...mailOf({ domain: domain.name, name: user?.name ?? '' }, change) },
      );
    } catch (error) {
      onFault(error);
    }
  }

  /** The address before the last change of the user's record; `undefined` if that did not change it. */
  async #formerEmail({ domainId, userId }: UserRef) {
    const [entry] = await this.#options.database.query<{ email: string | null }>(sql`
      select before -> 'email' ->> 0 as email
      from audit_entries
      where domain = ${domainId} and collection = 'pltf_user' and record_id = ${userId}
      order by id desc
      limit 1`);
    return entry?.email ?? undefined;
  }
}

const CHANGES: Readonly<Record<AccountChange, string>> = {
  password: 'The password of your account was changed.',
  email: 'The email address of your account was changed; it was this one before.',
  secondFactor: 'The second factor of your account, or its recovery codes, were changed.',
  key: 'An API key that acts for your account was created.',
};

function mailOf(
  { domain, name }: { readonly domain: string; readonly name: string },
  change: AccountChange,
): { readonly subject: string; readonly text: string } {
  return {
    subject: `A change of your account at ${domain}`,
    text: `Dear ${name},\n\n${CHANGES[change]}\n\nIf you did not ask for this, tell your office at once.\n`,
  };
}
