/** Mappings that callers have saved under a name, for the next file of the same program. */
import { ServiceError } from '../../base/errors.js';
import { type JsonValue, parsePlainJson, printExactJson } from '../../base/json/json.js';
import { isMonth } from '../../base/model/calendar.js';
import type { Scope } from '../../base/model/scope.js';
import { Prisma } from '../../generated/prisma/client.js';
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
    const rows = await this.#database.query<MappingRow>(Prisma.sql`
      select m.name, m.collection, m.mapping::text as mapping, m.saved_by, m.saved_at
      from import_mappings m
      where m.domain = ${scope.domain.id} and m.collection = coalesce(${collection ?? null}, m.collection)
      order by m.name
      limit ${MOST_MAPPINGS}`);
    // A mapping names fields, which only callers who may write them may see.
    return rows.map(toSavedMapping).filter((saved) => this.#rights.mayImport(scope, saved.collection));
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
    const [row] = await this.#database.query<{ count: number }>(Prisma.sql`
      select count(*)::int as count
      from import_mappings
      where domain = ${scope.domain.id} and name <> ${name}`);
    if ((row?.count ?? 0) >= MOST_MAPPINGS) {
      throw new ServiceError('LIMIT_EXCEEDED', `at most ${MOST_MAPPINGS} mappings are kept`);
    }
    await this.#database.query(Prisma.sql`
      insert into import_mappings (domain, name, collection, mapping, saved_by)
      values (${scope.domain.id}, ${name}, ${collection},
        ${printExactJson(withoutMonths(mapping) as unknown as JsonValue)}::jsonb, ${scope.principal.id})
      on conflict (domain, name) do update
      set collection = excluded.collection, mapping = excluded.mapping, saved_by = excluded.saved_by,
        saved_at = now()`);
  }
}

/** The month whose days are the columns of one file is not the month of the next. */
function withoutMonths(mapping: ImportMapping): ImportMapping {
  const columns = mapping.columns.map(({ format, ...one }) =>
    format === undefined || isMonth(format) ? one : { ...one, format },
  );
  return { ...mapping, columns };
}

interface MappingRow {
  readonly name: string;
  readonly collection: string;
  readonly mapping: string;
  readonly saved_by: string;
  readonly saved_at: Date;
}

function toSavedMapping(row: MappingRow): SavedMapping {
  return {
    name: row.name,
    collection: row.collection,
    mapping: toImportMapping(parsePlainJson(row.mapping)) ?? { columns: [], fixed: {} },
    savedBy: row.saved_by,
    savedAt: row.saved_at,
  };
}
