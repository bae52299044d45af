/**
 * Does the work of one import: inspects the file, tries it, runs it. Each transaction also stores the
 * progress, so that after a `kill -9` any process continues where the import stopped.
 *
 * One process at a time works on an import: it holds a lock on the connection by which it writes, and the
 * lock ends with the connection.
 */
import { createHash } from 'node:crypto';
import { ifRefused, OUT_OF_REACH, ServiceError } from '../../base/errors.js';
import { asJson } from '../../base/json/json.js';
import type { Collection, Field } from '../../base/model/collection.js';
import { type Scope, withCall } from '../../base/model/scope.js';
import { isInReach } from '../../store/access/access.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { OwnConnection } from '../../store/database/queryable.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Files } from '../files/files.js';
import { doubtsOfMapping, warnOfLostZeros, warnOfUnknownNames } from './doubts-of-mapping.js';
import { goingOn, ImportRun, type ImportRunOptions, type Run, StoppedError } from './import-run.js';
import { withImportSource } from './import-source.js';
import { fieldsOfMapping } from './mapping-target.js';
import { FileThreads } from './preparing/prepared-batches.js';
import { proposeKey, proposeMapping } from './propose-mapping.js';
import type { UnfoldedDays } from './reading/row-source.js';
import {
  changesOf,
  getImport,
  type ImportState,
  NO_COUNTS,
  type StoredImport,
  UNDER_WAY,
  updateImport,
} from './stored-import.js';

interface ImportRunnerOptions extends ImportRunOptions {
  readonly store: RecordStore;
  readonly catalog: Catalog;
  readonly files: Files;
}

/** The outcome of an attempt to continue an import. */
type RunOutcome =
  | { readonly kind: 'over'; readonly import: StoredImport }
  /** Another process works on it, or the domain has as many running imports as it may have. */
  | { readonly kind: 'busy' };

/** The most imports of a domain that run at once. */
const AT_ONCE = 2;

/** The step to do in a state; the other states wait for the caller, or are final. */
type Step = 'inspect' | 'try' | 'run' | 'undo';
const STEPS: Readonly<Partial<Record<ImportState, Step>>> = {
  received: 'inspect',
  inspecting: 'inspect',
  trying: 'try',
  waiting: 'run',
  running: 'run',
  undoing: 'undo',
};

type Work = Pick<Run, 'connection' | 'one' | 'signal'>;

export class ImportRunner {
  readonly #options: ImportRunnerOptions;
  readonly #run: ImportRun;
  readonly #threads = new FileThreads();

  constructor(options: ImportRunnerOptions) {
    this.#options = options;
    this.#run = new ImportRun(options, this.#threads);
  }

  /**
   * Continues an import to the end of the requested step. An error of the file or of the caller's rights ends
   * it as failed. An error of the environment is thrown, and the import can be continued later.
   */
  async run(id: string, signal: AbortSignal): Promise<RunOutcome> {
    const { database } = this.#options;
    return await database.withConnection('import', async (connection): Promise<RunOutcome> => {
      if (!(await connection.tryLock(`import ${id}`))) return { kind: 'busy' };
      const one = await getImport(database, id);
      const step = STEPS[one.state];
      if (step === undefined) return { kind: 'over', import: one };
      if (!(await hasPlace(connection, one.domainId))) return { kind: 'busy' };
      try {
        return { kind: 'over', import: await this.#step({ connection, one, signal }, step) };
      } catch (fault) {
        if (signal.aborted) throw signal.reason;
        if (fault instanceof StoppedError) return { kind: 'over', import: await this.end(id, 'cancelled') };
        if (!(fault instanceof ServiceError) || fault.status >= 500) throw fault;
        return { kind: 'over', import: await this.end(id, 'failed', fault) };
      }
    });
  }

  /** Ends an import that is under way, with the reason. One that has ended stays as it is. */
  async end(id: string, state: 'failed' | 'cancelled', fault?: ServiceError): Promise<StoredImport> {
    const { database } = this.#options;
    const one = await getImport(database, id);
    const { rows, refused } = one.counts;
    const ended = await updateImport(database, id, {
      from: UNDER_WAY,
      state,
      ...(hasOnlyJudged(one) && { counts: { ...NO_COUNTS, rows, refused } }),
      fault: fault ? asJson({ code: fault.code, detail: fault.message, errors: fault.errors ?? [] }) : null,
      endedAt: 'now',
    });
    return ended ?? (await getImport(database, id));
  }

  async #step(work: Work, step: Step): Promise<StoredImport> {
    const { one, signal } = work;
    if (one.isStopped) throw new StoppedError();
    if (step === 'undo') return await this.#undo(work);
    const scope = await this.#options.scopeOf(one);
    const collection = this.#options.catalog.get(one.collection, scope);
    return await withImportSource(this.#options, one, signal, async (file, { sha256 }) => {
      if (step === 'inspect') return await this.#inspect(work, { scope, collection, file });
      const { mapping, options } = one;
      if (mapping === undefined) throw new ServiceError('INVALID_VALUE', 'the import has no mapping yet');
      // Scripts after a write cannot change the outcome of a dry run.
      const chosen = options.triggers.filter((one) => step === 'run' || one === 'before');
      const staging = this.#options.store.staging(chosen);
      const key = staging.keyOf(scope, one.collection, options.by);
      staging.assertMayWrite(scope, one.collection, fieldsOfMapping(mapping), key);
      const seed = createHash('sha256')
        .update(sha256)
        .update(one.source.sheet ?? '')
        .digest('hex');
      const triggers = staging.triggerNames(scope, one.collection);
      const run = { ...work, collection, file, mapping, staging, key, triggers, seed };
      if (step === 'try') return await this.#run.dryRun(run);
      if (options.mode === 'atomic') return await this.#run.writeAtomically(run);
      return await this.#run.writeInBatches(run);
    });
  }

  /**
   * @throws StoppedError if it was cancelled; the reason of the aborted signal; CONFLICT if a record was
   * changed after the import: the later parts are undone by then, and the import lists the remaining ones
   */
  async #undo({ one: begun, signal }: Work): Promise<StoredImport> {
    const { database, store, scopeOf } = this.#options;
    let one = begun;
    for (const number of changesOf(begun).toReversed()) {
      signal.throwIfAborted();
      const scope = await scopeOf(one);
      const call = { requestId: `${one.id}.undo.${number}`, operation: 'undo of an import' };
      const own = withCall(scope, call);
      one = await store.atomically(own, { writes: 'anything' }, async (within) => {
        await store.undo(own, `${one.id}.${number}`, { within, force: one.options.force });
        const undone = [...one.undone, number];
        return goingOn(await updateImport(within, one.id, { from: ['undoing'], undone }));
      });
    }
    const ended = { from: ['undoing'] as const, state: 'undone' as const, endedAt: 'now' as const };
    return (await updateImport(database, one.id, ended)) ?? (await getImport(database, one.id));
  }

  /** Inspects the file; writes nothing to records. A saved mapping that the caller has chosen stays. */
  async #inspect(
    { one, signal }: Work,
    {
      scope,
      collection,
      file,
    }: { readonly scope: Scope; readonly collection: Collection; readonly file: string },
  ): Promise<StoredImport> {
    const { database, catalog, store } = this.#options;
    const from = ['received', 'inspecting'] as const;
    await updateImport(database, one.id, { from, state: 'inspecting' });
    const register = registerOf(collection);
    const mayUnfold = register !== undefined;
    const start = { file: { path: file, name: one.name }, source: one.source, mayUnfold };
    const { tableColumns, unfold, inspection } = await this.#threads.inspect(start, signal);
    const { columns: found, ...others } = inspection;
    const collectionOf = (name: string) =>
      catalog.list().find((known) => known.name === name && isInReach(scope, known));
    // The members of documents are named after fields already.
    const proposed =
      tableColumns === undefined
        ? { columns: [], fixed: {} }
        : proposeMapping(
            collection,
            { columns: tableColumns, found, given: givenBy(unfold, register) },
            collectionOf,
          );
    const mapping = one.mapping ?? proposed;
    const unknown = await warnOfUnknownNames(collection, { mapping, found }, (sought) =>
      store.staging([]).judgeLinks(database, scope, one.collection, sought),
    );
    const padded = await warnOfLostZeros(collection, { mapping, found }, (sought) =>
      store.staging([]).findByField(database, scope, sought),
    ).catch(ifRefused(OUT_OF_REACH, []));
    const ready = await updateImport(database, one.id, {
      from,
      state: 'ready',
      fault: null,
      inspection: {
        ...others,
        warnings: [...others.warnings, ...doubtsOfMapping(collection, mapping, found), ...unknown, ...padded],
        columns: tableColumns,
        ...(unfold !== undefined && { unfold }),
        found: found.map(({ values: _values, ...column }) => column),
      },
      mapping,
      options: { ...one.options, by: one.options.by || proposeKey(collection, mapping, found) },
    });
    if (ready === undefined) throw new StoppedError();
    return ready;
  }
}

/** Whether the counts are of rows that were only checked, not written. */
function hasOnlyJudged({ state, options }: StoredImport): boolean {
  return state === 'trying' || (state === 'running' && options.mode === 'atomic');
}

/** Takes one of the domain's places for running imports, until the connection ends. */
async function hasPlace(connection: OwnConnection, domainId: string): Promise<boolean> {
  for (let place = 1; place <= AT_ONCE; place += 1) {
    if (await connection.tryLock(`imports of ${domainId} ${place}`)) return true;
  }
  return false;
}

/** The fields of a register: the day or month of which a record exists once, and its one other value. */
interface Register {
  readonly day: string;
  readonly value: string;
}

function registerOf({ fields, fieldsByName, uniqueTogether }: Collection): Register | undefined {
  for (const { parts } of uniqueTogether) {
    const names = parts.map(({ path: [name = ''] }) => name);
    const day = parts.find(
      ({ path: [name = ''], by }) => by === 'day' || fieldsByName.get(name)?.format === 'month',
    );
    const isValue = ({ name, isRequired, allowed, type }: Field) =>
      isRequired && !names.includes(name) && (allowed !== undefined || type === 'number');
    const [value, ...others] = fields.filter(isValue);
    const [name] = day?.path ?? [];
    if (name !== undefined && value !== undefined && others.length === 0)
      return { day: name, value: value.name };
  }
  return undefined;
}

/** The fields of the columns that the days of a register are read as. */
function givenBy(
  unfold: UnfoldedDays | undefined,
  register: Register | undefined,
): ReadonlyMap<string, string> {
  if (unfold === undefined || register === undefined) return new Map();
  return new Map([
    [unfold.day, register.day],
    [unfold.value, register.value],
  ]);
}
