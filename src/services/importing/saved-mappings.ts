/** Mappings that callers have saved under a name, for the next file of the same program. */
import { ServiceError } from '../../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../base/json/json.js';
import { isMonth } from '../../base/model/calendar.js';
import type { Scope } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import { type ImportMapping, toImportMapping } from './import-mapping.js';
import type { ImportRights } from './import-rights.js';
import { invalidImport } from './invalid-import.js';

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
      .map((saved) => ({
        ...saved,
        mapping: toImportMapping(saved.mapping as JsonValue) ?? { columns: [], fixed: {} },
      }));
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
        'it is no name of a mapping',
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
      mapping: parsePlainJson(printExactJson(withoutMonths(mapping) as unknown as JsonValue)) as never,
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
