/**
 * The requests of callers about imports: upload, mapping, dry run, run, cancel, undo. A job on any gateway
 * does the work itself; the command line does its own.
 */

import { v7 as uuidv7 } from 'uuid';
import { andMore, ServiceError } from '../../base/errors.js';
import type { JsonValue } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { type Scope, toWorkPrincipal } from '../../base/model/scope.js';
import { isAdmin } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import { assertIdOf, type KeysetPage, type KeysetRequest, withPlaces } from '../../store/database/keyset.js';
import type { UndoConflict, UndoPreview } from '../../store/history/undo-preview.js';
import type { RecordStore } from '../../store/record-store.js';
import { sql } from '../../store/sql.js';
import { assertMayForce } from '../../store/writing/referring-records.js';
import { assertAtMost, type MostBytes } from '../files/described-file.js';
import type { Files, NewFile } from '../files/files.js';
import { assertNothingReplaced, doubtsOfMapping } from './doubts-of-mapping.js';
import type { ImportMapping } from './import-mapping.js';
import { type ImportRights, SavedMappings } from './import-rights.js';
import { fieldsOfMapping, invalidImport } from './mapping-target.js';
import { parseImportMapping } from './parse-mapping.js';
import type { RefusedRow } from './preparing/row-preparer.js';
import { SOURCE_LIMITS, type SourceOptions } from './reading/row-source.js';
import { forgetSeen, listRefusedRows, printOutcomes, printRefusedRows } from './row-outcomes.js';
import {
  changesOf,
  DEFAULT_OPTIONS,
  fingerprintOf,
  getImport,
  type ImportInspection,
  type ImportOptions,
  type ImportState,
  insertImport,
  listImports,
  type StoredImport,
  UNDER_WAY,
  updateImport,
} from './stored-import.js';

interface ImportsOptions {
  readonly database: Database;
  readonly store: RecordStore;
  readonly catalog: Catalog;
  readonly files: Files;
  readonly rights: ImportRights;
  readonly maxBytes: number;
  /** Schedules a job that continues an import. */
  readonly schedule: (id: string) => Promise<void>;
}

interface NewImport {
  readonly collection: string;
  /** The bytes, or the id of a stored file. */
  readonly file: Pick<NewFile, 'name' | 'contentType' | 'stream'> | { readonly fileId: string };
  readonly source: SourceOptions;
  /** The name of a saved mapping. */
  readonly mapping?: string | undefined;
  readonly options: Partial<ImportOptions>;
}

/** The states in which an import waits for its caller. */
const IDLE: readonly ImportState[] = ['ready', 'tried', 'failed', 'cancelled'];
/** The states in which an import can be undone. */
const WRITTEN: readonly ImportState[] = ['done', 'failed', 'cancelled'];
/** The advice for an import in a state that does not permit the request. */
const ADVICE: Readonly<Partial<Record<ImportState, string>>> = {
  ready: 'it has written nothing yet',
  tried: 'it has written nothing yet',
  done: 'undo it, or import the file anew',
  undone: 'import the file anew',
};

export class Imports {
  readonly rights: ImportRights;
  readonly mappings: SavedMappings;
  readonly #options: ImportsOptions;

  constructor(options: ImportsOptions) {
    this.#options = options;
    this.rights = options.rights;
    this.mappings = new SavedMappings(options.database, options.rights);
  }

  /** The limit of the file of an import. */
  get most(): MostBytes {
    const bytes = Math.min(this.#options.maxBytes, SOURCE_LIMITS.maxBytes);
    return { bytes, setting: 'IMPORT_MAX_BYTES' };
  }

  /**
   * Receives a file for a collection. Nothing remains of an interrupted upload.
   *
   * @throws FORBIDDEN; NOT_FOUND for collection, file or mapping; INVALID_VALUE; TOO_LARGE; LIMIT_EXCEEDED
   * over the quota of files
   */
  async create(scope: Scope, sent: NewImport): Promise<StoredImport> {
    const { database, files, catalog } = this.#options;
    this.rights.assertMayImport(scope, sent.collection);
    const collection = catalog.get(sent.collection, scope);
    const options = this.#toOptions(scope, sent.collection, sent.options, DEFAULT_OPTIONS);
    const saved = sent.mapping === undefined ? undefined : await this.mappings.get(scope, sent.mapping);
    if (saved !== undefined && saved.collection !== collection.name) {
      throw invalidImport(
        'mapping',
        `the mapping "${saved.name}" is for ${saved.collection}`,
        collection.name,
      );
    }
    const { most } = this;
    const file =
      'stream' in sent.file
        ? await files.createForTask(scope, sent.file, most)
        : await files.get(scope, sent.file.fileId);
    assertAtMost(file.size, most);
    const isOwn = 'stream' in sent.file || (await files.takeForImport(file));
    const id = uuidv7();
    try {
      await insertImport(database, {
        id,
        domainId: scope.domain.id,
        collection: collection.name,
        name: file.name,
        fileId: file.id,
        ownsFile: isOwn,
        source: sent.source,
        mapping: saved?.mapping,
        options,
        principal: toWorkPrincipal(scope.principal),
      });
    } catch (fault) {
      if (isOwn) await files.removeOfTask(scope.domain.id, file.id).catch(() => {});
      throw fault;
    }
    await this.#goOn(scope, id);
    return await this.get(scope, id);
  }

  /** @throws NOT_FOUND, also for an import of another domain and for one that the caller may not see */
  async get(scope: Scope, id: string): Promise<StoredImport> {
    const one = await getImport(this.#options.database, id);
    this.rights.assertVisible(scope, one);
    return one;
  }

  /** The newest first: for an admin all imports of the domain, else the caller's own. */
  async list(
    scope: Scope,
    { state, ...page }: KeysetRequest & { readonly state?: string | undefined },
  ): Promise<KeysetPage<StoredImport>> {
    return await listImports(this.#options.database, scope.domain.id, {
      createdBy: isAdmin(scope.principal) ? undefined : scope.principal.id,
      except: this.rights.listHidden(scope),
      state,
      ...withPlaces(page, assertIdOf('an import')),
    });
  }

  /**
   * Replaces the mapping, the options, or both, and saves the mapping if a name is given.
   *
   * @throws INVALID_VALUE with every fault; CONFLICT while the import is under way; FORBIDDEN for fields that
   * are not the caller's to set
   */
  async change(
    scope: Scope,
    id: string,
    sent: {
      readonly mapping?: JsonValue | undefined;
      readonly options?: Partial<ImportOptions> | undefined;
      readonly saveAs?: string | undefined;
    },
  ): Promise<StoredImport> {
    const { database, catalog, store } = this.#options;
    const one = await this.get(scope, id);
    this.rights.assertMayImport(scope, one.collection);
    const collection = catalog.get(one.collection, scope);
    const mapping =
      sent.mapping === undefined
        ? one.mapping
        : parseImportMapping(sent.mapping, collection, one.inspection?.columns);
    const options = this.#toOptions(scope, collection.name, sent.options ?? {}, one.options);
    if (mapping !== undefined) {
      const staging = store.staging([]);
      const key = options.by === '' ? undefined : staging.keyOf(scope, collection.name, options.by);
      staging.assertMayWrite(scope, collection.name, fieldsOfMapping(mapping), key);
    }
    const changed = await updateImport(database, id, {
      from: IDLE,
      state: 'ready',
      ...(mapping !== undefined && { mapping, inspection: inspectionWith(mapping, one, collection) }),
      options,
      // From now on the import acts for this caller.
      principal: toWorkPrincipal(scope.principal),
    });
    if (changed === undefined) throw await this.#underWay(scope, id, 'be changed');
    if (sent.saveAs !== undefined && mapping !== undefined) {
      await this.mappings.save(scope, { name: sent.saveAs, collection: collection.name, mapping });
    }
    return changed;
  }

  /** Begins the dry run. @throws CONFLICT while the import is under way, FORBIDDEN, INVALID_VALUE */
  async dryRun(scope: Scope, id: string, sent: Partial<ImportOptions> = {}): Promise<StoredImport> {
    return await this.#begin(scope, id, sent, 'trying');
  }

  /**
   * Begins to write.
   *
   * @throws CONFLICT while the import is under way, and if records would be removed and no dry run of this
   * mapping counted them; FORBIDDEN; INVALID_VALUE
   */
  async start(scope: Scope, id: string, sent: Partial<ImportOptions> = {}): Promise<StoredImport> {
    return await this.#begin(scope, id, sent, 'waiting');
  }

  /**
   * Stops it; what is written stays written, and is undone by its change ids. One that has ended stays as it
   * is. If no process works on it any more, as after Ctrl-C on the command line, a gateway ends it.
   */
  async cancel(scope: Scope, id: string): Promise<StoredImport> {
    const { database } = this.#options;
    const one = await this.get(scope, id);
    this.rights.assertMayImport(scope, one.collection);
    const stopped =
      (await updateImport(database, id, {
        from: ['ready', 'tried', 'waiting'],
        state: 'cancelled',
        endedAt: 'now',
      })) ?? (await updateImport(database, id, { from: UNDER_WAY, isStopped: true }));
    if (stopped?.isStopped) await this.#options.schedule(id);
    return stopped ?? (await this.get(scope, id));
  }

  /**
   * How many records `undo` would remove, change and bring back, and which were changed later and stand in
   * its way.
   *
   * @throws NOT_FOUND; FORBIDDEN for what undoing comes to
   */
  async previewUndo(scope: Scope, id: string): Promise<UndoPreview> {
    const one = await this.get(scope, id);
    const requestIds = changesOf(one).map((number) => `${one.id}.${number}`);
    return await this.#options.store.previewUndo(scope, { collection: one.collection, requestIds });
  }

  /**
   * Begins to take back all that the import has written. Refused as a whole where a record was changed later.
   *
   * @throws CONFLICT naming the records that were changed later, or counting those that point to created
   * ones unless an admin passes `force`, or while the import is under way; FORBIDDEN; NOT_FOUND, also where
   * nothing that it has written is the caller's to undo
   */
  async undo(
    scope: Scope,
    id: string,
    { force }: { readonly force?: boolean | undefined } = {},
  ): Promise<StoredImport> {
    const { database } = this.#options;
    const one = await this.get(scope, id);
    this.rights.assertMayImport(scope, one.collection);
    if (!WRITTEN.includes(one.state)) throw await this.#underWay(scope, id, 'be undone');
    const { conflictCount, conflicts, removed, changed, broughtBack, usedBy } = await this.previewUndo(
      scope,
      id,
    );
    if (conflictCount > 0) throw changedLater(one.collection, conflicts, conflictCount);
    if (force) assertMayForce(scope);
    else if (usedBy.length > 0) {
      const found = usedBy.join(', ');
      const inUse = `Records of ${one.collection} that the import created are still in use: ${found}.`;
      const detail = `${inUse} Remove or change these first. An admin may pass force: true.`;
      throw new ServiceError('CONFLICT', detail, { errors: usedBy.map((found) => ({ detail: found })) });
    }
    if (removed + changed + broughtBack === 0) {
      throw new ServiceError('NOT_FOUND', 'the import has written nothing that you may undo');
    }
    const begun = await updateImport(database, id, {
      from: WRITTEN,
      state: 'undoing',
      isStopped: false,
      startedAt: 'now',
      endedAt: null,
      fault: null,
      options: { ...one.options, ...(force && { force }) },
      principal: toWorkPrincipal(scope.principal),
    });
    if (begun === undefined) throw await this.#underWay(scope, id, 'be undone');
    await this.#goOn(scope, id);
    return begun;
  }

  /** The first rows that the last step has refused. */
  async listErrors(scope: Scope, id: string, limit: number): Promise<readonly RefusedRow[]> {
    const one = await this.get(scope, id);
    return await listRefusedRows(this.#options.database, one, { after: -1, limit });
  }

  /** All rows that the last step has refused, to be corrected and imported as a file of their own. */
  async *errorsCsv(scope: Scope, id: string): AsyncGenerator<string, void> {
    yield* printRefusedRows(this.#options.database, await this.get(scope, id));
  }

  /** The outcome of each row in the last dry run. */
  async *outcomesCsv(scope: Scope, id: string): AsyncGenerator<string, void> {
    yield* printOutcomes(this.#options.database, (await this.get(scope, id)).id);
  }

  /**
   * Removes imports, with their files, that have not changed since an instant. One that is under way changes
   * with each batch: after a day without a change, nobody will continue it.
   */
  async purge(before: Date): Promise<number> {
    const { database, files } = this.#options;
    const gone = await database.query<GoneImport>(sql`
      delete from imports
      where updated_at < ${before.toISOString()}::timestamptz
        and (state in ('ready', 'tried', 'done', 'undone', 'failed', 'cancelled')
          or updated_at < now() - interval '1 day')
      returning id, domain as "domainId", file_id, owns_file`);
    for (const one of gone) {
      // On a database of several servers, no foreign key deletes them too.
      await forgetSeen(database, one);
      if (one.owns_file) await files.removeOfTask(one.domainId, one.file_id);
    }
    return gone.length;
  }

  async #begin(
    scope: Scope,
    id: string,
    sent: Partial<ImportOptions>,
    state: 'trying' | 'waiting',
  ): Promise<StoredImport> {
    const { database, store, catalog } = this.#options;
    const one = await this.change(scope, id, { options: sent });
    if (one.mapping === undefined) {
      const detail = `the file is not inspected yet (the import is ${one.state})`;
      throw new ServiceError('CONFLICT', detail);
    }
    if (one.mapping.columns.every(({ field }) => field === null) && one.inspection?.columns !== undefined) {
      throw invalidImport(
        'mapping',
        'no column of the file is mapped to a field',
        'a field for at least one column',
      );
    }
    assertNothingReplaced(catalog.get(one.collection, scope), one.mapping, one.inspection?.found);
    store.staging([]).keyOf(scope, one.collection, one.options.by);
    if (state === 'waiting' && one.options.missing === 'remove') assertTried(one);
    const begun = await updateImport(database, id, {
      from: ['ready'],
      state,
      isStopped: false,
      position: 0,
      startedAt: null,
      endedAt: null,
      fault: null,
    });
    if (begun === undefined) throw await this.#underWay(scope, id, 'begin');
    await this.#goOn(scope, id);
    return begun;
  }

  /** The command line does the work itself, with the rights of the operator. */
  async #goOn({ principal }: Scope, id: string): Promise<void> {
    if (principal.kind === 'user') await this.#options.schedule(id);
  }

  #toOptions(
    scope: Scope,
    collection: string,
    sent: Partial<ImportOptions>,
    before: ImportOptions,
  ): ImportOptions {
    const { store } = this.#options;
    const { force: _force, ...options } = { ...before, ...sent };
    if (options.by !== '') store.staging([]).keyOf(scope, collection, options.by);
    if (options.missing === 'remove') store.assertAllowed(scope, collection, 'delete');
    return options;
  }

  async #underWay(scope: Scope, id: string, what: string): Promise<ServiceError> {
    const { state } = await this.get(scope, id);
    const advice = ADVICE[state] ?? 'cancel it, or wait for its end';
    return new ServiceError('CONFLICT', `the import is ${state} and cannot ${what}; ${advice}`);
  }
}

/** The warnings about the former mapping are replaced. */
function inspectionWith(
  mapping: ImportMapping,
  { inspection, mapping: former }: StoredImport,
  collection: Collection,
): ImportInspection | undefined {
  if (inspection === undefined) return undefined;
  const { found, warnings } = inspection;
  const outdated = new Set(former === undefined ? [] : doubtsOfMapping(collection, former, found));
  const ofFile = warnings.filter((warning) => !outdated.has(warning));
  return { ...inspection, warnings: [...ofFile, ...doubtsOfMapping(collection, mapping, found)] };
}

interface GoneImport {
  readonly id: string;
  readonly domainId: string;
  readonly file_id: string;
  readonly owns_file: boolean;
}

function changedLater(collection: string, conflicts: readonly UndoConflict[], count: number): ServiceError {
  const errors = conflicts.map(({ id, version, at }) => {
    const what = version === undefined ? 'removed for good since' : `changed later: version ${version}`;
    return {
      detail: `the record "${id}" of ${collection} was ${what}${at ? `, at ${at.toISOString()}` : ''}`,
    };
  });
  return new ServiceError('CONFLICT', `${errors[0]?.detail ?? ''}${andMore({ length: count })}`, { errors });
}

function assertTried(one: StoredImport): void {
  if (one.trial?.fingerprint === fingerprintOf(one)) return;
  throw new ServiceError(
    'CONFLICT',
    'missing=remove removes records, and needs a dry run of this mapping first, which counts them',
  );
}
