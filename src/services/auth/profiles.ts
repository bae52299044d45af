/** The name of a user and the language of its pages, which the user may read and choose. */
import { ServiceError } from '../../base/errors.js';
import type { Principal, Scope } from '../../base/model/scope.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import { findUser } from './principals.js';

export interface Profile {
  /** Full name. */
  readonly name: string;
  /** `undefined`: not chosen. */
  readonly language: string | undefined;
}

const NOBODY: Profile = { name: '', language: undefined };

interface ProfilesOptions {
  readonly database: Database;
  readonly domains: Pick<Domains, 'get'>;
  readonly records: Pick<RecordStore, 'update'>;
}

export class Profiles {
  readonly #options: ProfilesOptions;

  constructor(options: ProfilesOptions) {
    this.#options = options;
  }

  /** The profile of a caller; a system task has none. */
  async find({ domainId, id }: Principal): Promise<Profile> {
    const user = await findUser(this.#options.database, { domainId, userId: id });
    return user === undefined ? NOBODY : { name: user.name, language: user.language };
  }

  /**
   * Sets the caller's own language, even if its role may not change its record; `undefined` clears it. The
   * audit trail names the caller.
   *
   * @throws FORBIDDEN (403) for an API key; INVALID_VALUE (400)
   */
  async setLanguage(scope: Scope, language: string | undefined): Promise<void> {
    const { principal } = scope;
    if (principal.kind !== 'user' || principal.scopes !== undefined)
      throw new ServiceError('FORBIDDEN', 'A language is chosen by a user who logged in.');
    const asAdmin: Scope = {
      ...scope,
      domain: this.#options.domains.get(principal.domainId),
      principal: { ...principal, roles: new Set([...principal.roles, 'admin']) },
    };
    await this.#options.records.update(asAdmin, 'pltf_user', principal.id, {
      data: { language: language ?? null },
      mode: 'merge',
    });
  }
}
