/** The rights to import, and to see the imports of others. */
import { isRefused, ServiceError } from '../../base/errors.js';
import { asJson, printExactJson } from '../../base/json/json.js';
import { isMonth } from '../../base/model/calendar.js';
import { type Scope, withCall } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Principals } from '../auth/principals.js';
import { type DomainDirectory, resolveScope } from '../auth/resolve-scope.js';
import { type ImportMapping, MAPPING } from './import-mapping.js';
import { invalidImport, noImport } from './mapping-target.js';
import type { StoredImport } from './stored-import.js';

interface ImportRightsOptions {
  /** Roles that may import. */
  readonly roles: readonly string[];
  readonly store: RecordStore;
  readonly catalog: Catalog;
}

export class ImportRights {
  readonly #options: ImportRightsOptions;

  constructor(options: ImportRightsOptions) {
    this.#options = options;
  }

  /** Whether the caller has a role that may import; the rights to records decide into which collections. */
  mayHave({ principal }: Scope): boolean {
    return this.#options.roles.some((role) => principal.roles.has(role));
  }

  /**
   * Refuses a caller who may not import into the collection at all.
   *
   * @throws FORBIDDEN; NOT_FOUND, GONE for the collection
   */
  assertMayImport(scope: Scope, collection: string): void {
    const { roles, store } = this.#options;
    if (!this.mayHave(scope)) {
      const needed = roles.length === 0 ? 'no role may' : `one of these roles is needed: ${roles.join(', ')}`;
      throw new ServiceError('FORBIDDEN', `you may not import files; ${needed} (IMPORT_ROLES)`);
    }
    for (const verb of ['read', 'create', 'update'] as const) store.assertAllowed(scope, collection, verb);
  }

  mayImport(scope: Scope, collection: string): boolean {
    return !isRefused(() => this.assertMayImport(scope, collection));
  }

  /**
   * Whether the caller may see the import: admins see those of the domain, other users their own. Both must
   * be allowed to read records of the collection, because an import shows contents of its file.
   */
  isVisible(scope: Scope, { domainId, createdBy, collection }: StoredImport): boolean {
    const isOwn =
      domainId === scope.domain.id && (isAdmin(scope.principal) || createdBy === scope.principal.id);
    return isOwn && !this.#isHidden(scope, collection);
  }

  /** @throws NOT_FOUND, as for an unknown import */
  assertVisible(scope: Scope, one: StoredImport): void {
    if (!this.isVisible(scope, one)) throw noImport(one.id);
  }

  /** The collections whose imports the caller does not see, because it may not read their records. */
  listHidden(scope: Scope): readonly string[] {
    const names = this.#options.catalog.list().map(({ name }) => name);
    return names.filter((name) => this.#isHidden(scope, name));
  }

  /** A collection that does not exist hides nothing: its imports stay visible. */
  #isHidden(scope: Scope, collection: string): boolean {
    const { catalog, store } = this.#options;
    if (catalog.find(collection) === undefined) return false;
    return isRefused(() => store.assertAllowed(scope, collection, 'read'));
  }
}

/**
 * The scope of the caller of an import with its present rights, and no more than it had at the request.
 *
 * @throws FORBIDDEN if it may no longer import, or no longer exists; NOT_FOUND, GONE for domain or collection
 */
export async function scopeOfImport(
  one: StoredImport,
  services: {
    readonly principals: Pick<Principals, 'ofWork'>;
    readonly domains: DomainDirectory;
    readonly rights: Pick<ImportRights, 'assertMayImport'>;
  },
): Promise<Scope> {
  const { principals, domains, rights } = services;
  const principal = await principals.ofWork(one.principal);
  if (principal === undefined) {
    throw new ServiceError(
      'FORBIDDEN',
      'The user who started this import may not log in any more, or its key has ended.',
    );
  }
  await domains.assureKnown(one.domainId);
  const scope = resolveScope(domains, { principal, askedDomain: one.domainId, requestId: one.id });
  rights.assertMayImport(scope, one.collection);
  return withCall(scope, { operation: 'import' });
}

export interface SavedMapping {
  readonly name: string;
  readonly collection: string;
  readonly mapping: ImportMapping;
  readonly savedBy: string;
  readonly savedAt: Date;
}

const MAPPING_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u;
/** How many mappings a domain may keep. */
const MOST_MAPPINGS = 500;

export class SavedMappings {
  readonly #database: Database;
  readonly #rights: ImportRights;

  constructor(database: Database, rights: ImportRights) {
    this.#database = database;
    this.#rights = rights;
  }

  /** Those for collections that the caller may import into, or for one of these. */
  async list(scope: Scope, collection?: string): Promise<readonly SavedMapping[]> {
    const rows = await this.#database.prisma.importMapping.findMany({
      where: { domain: scope.domain.id, ...(collection !== undefined && { collection }) },
      orderBy: { name: 'asc' },
      omit: { domain: true },
    });
    // A mapping names fields, which only callers who may write them may see.
    return rows
      .filter((saved) => this.#rights.mayImport(scope, saved.collection))
      .map((saved) => ({ ...saved, mapping: MAPPING.parse(saved.mapping) }));
  }

  /** @throws NOT_FOUND */
  async get(scope: Scope, name: string): Promise<SavedMapping> {
    const found = (await this.list(scope)).find((one) => one.name === name);
    if (found !== undefined) return found;
    throw new ServiceError('NOT_FOUND', `there is no mapping "${name.slice(0, 100)}"`);
  }

  /** Replaces the one of this name. @throws INVALID_VALUE for the name; LIMIT_EXCEEDED */
  async save(
    scope: Scope,
    { name, collection, mapping }: Pick<SavedMapping, 'name' | 'collection' | 'mapping'>,
  ): Promise<void> {
    if (!MAPPING_NAME.test(name)) {
      throw invalidImport(
        'saveAs',
        'it is not a valid name of a mapping',
        '1 to 100 letters, digits, spaces, `.`, `_`, `-`',
        name,
      );
    }
    const domain = scope.domain.id;
    const { importMapping } = this.#database.prisma;
    if ((await importMapping.count({ where: { domain, name: { not: name } } })) >= MOST_MAPPINGS) {
      throw new ServiceError('LIMIT_EXCEEDED', `at most ${MOST_MAPPINGS} mappings are kept`);
    }
    const saved = {
      collection,
      mapping: JSON.parse(printExactJson(asJson(withoutMonths(mapping)))),
      savedBy: scope.principal.id,
      savedAt: new Date(),
    };
    await importMapping.upsert({
      where: { domain_name: { domain, name } },
      create: { domain, name, ...saved },
      update: saved,
    });
  }
}

/** The month whose days are the columns of one file is not the month of the next. */
function withoutMonths(mapping: ImportMapping): ImportMapping {
  const columns = mapping.columns.map(({ format, ...one }) =>
    format === undefined || isMonth(format) ? one : { ...one, format },
  );
  return { ...mapping, columns };
}
