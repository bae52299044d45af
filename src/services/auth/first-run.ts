/** Creates the first school of an empty database and its first admin, by the link in the log. */
import { invalidAt, ServiceError } from '../../base/errors.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { systemPrincipal } from '../../base/model/scope.js';
import type { Domains } from '../../store/catalog/domains.js';
import { assertNewDomain, type NewDomain } from '../../store/catalog/new-domain.js';
import type { Database } from '../../store/database/database.js';
import { type Sql, sql } from '../../store/sql.js';
import { createOpaqueSecret, hashOpaqueSecret } from './service-secret.js';
import type { Users } from './users.js';

export interface FirstSchool extends NewDomain {
  readonly admin: { readonly userName: string; readonly name: string; readonly password: string };
}

/** The name of the setting that holds the hash of the link. */
const SETTING = 'firstRun';
const LIFE_HOURS = 24;
const LONGEST_NAME = 200;

interface FirstRunOptions {
  readonly database: Database;
  readonly domains: Pick<Domains, 'top' | 'refresh' | 'createTop'>;
  readonly users: Pick<Users, 'add'>;
}

export class FirstRun {
  readonly #options: FirstRunOptions;

  constructor(options: FirstRunOptions) {
    this.#options = options;
  }

  /**
   * Creates a link, valid once and for a day, replacing an earlier one; `undefined` if there is a school.
   * Whoever has the link can create the school, so only the operator may see it.
   */
  async offer(): Promise<string | undefined> {
    if (this.#options.domains.top() !== undefined) return undefined;
    const token = createOpaqueSecret('cgl');
    const value = { hash: hashOpaqueSecret(token).toString('base64url') };
    await this.#options.database.prisma.setting.upsert({
      where: { name: SETTING },
      create: { name: SETTING, value },
      update: { value },
    });
    return token;
  }

  /** Whether a school can be created by this link now. */
  async isOpen(token: string): Promise<boolean> {
    if (await this.#hasSchool()) return false;
    const rows = await this.#options.database.query(
      sql`select 1 as one from settings where ${isLink(token)}`,
    );
    return rows.length > 0;
  }

  /**
   * Creates the school and its first admin.
   *
   * @throws NOT_FOUND (404) for a link that was used, has expired or was replaced, and if there is a school;
   *   INVALID_VALUE (400), after which the link is still valid
   */
  async make(token: string, school: FirstSchool): Promise<void> {
    if (!(await this.isOpen(token))) throw noSuchLink();
    assertSchool(school);
    const { id, name, timeZone, admin } = school;
    // One transaction: an error leaves no school without an admin, and the link is still valid.
    await this.#options.domains.createTop({ id, name, timeZone }, async (transaction, domain) => {
      const taken = await transaction.query(sql`
        delete from settings where ${isLink(token)} returning 1 as one`);
      if (taken.length === 0) throw noSuchLink();
      const principal = systemPrincipal('first run', ['admin'], id);
      const scope = { domain, principal, call: { requestId: 'first run' } };
      await this.#options.users.add(scope, { ...admin, roles: ['admin'] }, transaction);
    });
  }

  /** Another gateway, or the command line, may have created one. */
  async #hasSchool(): Promise<boolean> {
    if (this.#options.domains.top() === undefined) await this.#options.domains.refresh();
    return this.#options.domains.top() !== undefined;
  }
}

/** Searches by the hash, so that the time taken discloses nothing about the link. */
function isLink(token: string): Sql {
  return sql`name = ${SETTING}
    and value ->> 'hash' = ${hashOpaqueSecret(token).toString('base64url')}
    and updated_at > now() - ${LIFE_HOURS}::int * interval '1 hour'`;
}

/** @throws INVALID_VALUE (400) */
function assertSchool({ admin, ...domain }: FirstSchool): void {
  assertNewDomain(domain);
  assertName('userName', admin.userName);
  assertName('adminName', admin.name);
}

function assertName(parameter: string, name: string): void {
  const isName = toNormalText(name) !== '' && name.length <= LONGEST_NAME;
  if (isName && name.isWellFormed() && !name.includes('\0')) return;
  const detail = `${parameter} has 1 to ${LONGEST_NAME} characters.`;
  throw invalidAt(detail, { parameter });
}

function noSuchLink(): ServiceError {
  return new ServiceError(
    'NOT_FOUND',
    'There is a school already, or this link was used or replaced. `campus start` prints it in its log.',
  );
}
