/** Writes the rows of an import, batch by batch; a dry run writes them and takes them back. */
import { ServiceError } from '../../base/errors.js';
import { asJson, defined, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { type Scope, withCall } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { OwnConnection, OwnTransaction, Queryable } from '../../store/database/queryable.js';
import { explained, rehearse } from '../../store/writing/atomically.js';
import type { StagedOutcome, StagedWrites } from '../../store/writing/staged-writes.js';
import type { UniqueKey } from '../../store/writing/unique-key.js';
import type { TriggerNames } from '../../store/writing/write-triggers.js';
import type { ImportMapping } from './import-mapping.js';
import type { FileThreads, PreparedBatch } from './preparing/prepared-batches.js';
import { columnFinder } from './preparing/row-mapper.js';
import { type ReferenceLookups, type RefusedRow, withColumns } from './preparing/row-preparer.js';
import type { SourceOptions } from './reading/row-source.js';
import {
  firstRowsOf,
  forgetOutcomes,
  forgetSeen,
  noteOutcomes,
  noteRefused,
  noteSeen,
  outcomesOf,
  unseen,
} from './row-outcomes.js';
import {
  addChanges,
  addCounts,
  findImport,
  fingerprintOf,
  type ImportCounts,
  type ImportInspection,
  type ImportTrial,
  NO_COUNTS,
  type StoredImport,
  updateImport,
} from './stored-import.js';

export interface ImportRunOptions {
  readonly database: Database;
  /** The scope of the caller of the import, with the caller's present rights. @throws FORBIDDEN */
  readonly scopeOf: (one: StoredImport) => Promise<Scope>;
  /** The most records that one transaction may write, so that it can be undone by one. */
  readonly maxRecordsPerWrite: number;
}

/** One import, with everything needed to write its rows. */
export interface Run {
  /** The connection that holds the lock of the import, so that no other process writes its rows. */
  readonly connection: OwnConnection;
  readonly one: StoredImport;
  readonly signal: AbortSignal;
  readonly collection: Collection;
  /** The file, on a disk of this machine. */
  readonly file: string;
  readonly mapping: ImportMapping;
  readonly staging: StagedWrites;
  readonly key: UniqueKey;
  /** The scripts that run for the written records. */
  readonly triggers: TriggerNames;
  /** From this and the row, ids are derived for records without one. */
  readonly seed: string;
}

/** The import was cancelled, or another process has changed its state. */
export class StoppedError extends Error {}

/** A pass through all rows: they are written, or tried and taken back. */
interface Pass {
  readonly run: Run;
  readonly mode: 'write' | 'try';
  readonly state: 'trying' | 'running';
  /** The transaction of all rows. Default: one for each batch. */
  readonly within?: OwnTransaction;
}

/** The progress of a pass. */
interface Done extends Required<Omit<ImportTrial, 'fingerprint'>> {
  readonly position: number;
  readonly changes: number;
  /** Announce what was written, after the commit. */
  readonly announcers: readonly (() => void)[];
}

const BATCH_ROWS = 2_500;
/** The most attempts to write a batch that conflicts with concurrent writes. */
const MAX_ATTEMPTS = 5;
const MOST_PREVIEWED = 100;
/** So many rows are tried in one transaction, in which each row sees what earlier ones have changed. */
const MOST_TRIED_AT_ONCE = 100_000;

export class ImportRun {
  readonly #options: ImportRunOptions;
  readonly #threads: FileThreads;

  constructor(options: ImportRunOptions, threads: FileThreads) {
    this.#options = options;
    this.#threads = threads;
  }

  /** Writes all rows and takes them back, so that what the write would refuse is known before it. */
  async dryRun(run: Run): Promise<StoredImport> {
    const begun = await this.#begin(run, 'trying');
    const done = await this.#judge({ ...run, one: begun }, 'trying');
    return orStopped(
      await updateImport(this.#options.database, begun.id, {
        from: ['trying'],
        state: 'tried',
        trial: trialOf(done, fingerprintOf(begun)),
        rowCount: done.counts.rows,
        endedAt: 'now',
      }),
    );
  }

  async #judge(run: Run, state: 'trying' | 'running'): Promise<Done> {
    const pass: Pass = { run, mode: 'try', state };
    if (!isSmall(run.one)) return await this.#pass(pass);
    return await this.#inTransaction(run, async (within) => {
      await forgetOutcomes(this.#options.database, run.one.id, stepOf(state));
      return await rehearse(within, () => this.#pass({ ...pass, within }));
    });
  }

  /** Writes the valid rows, one transaction per batch, and reports the others. */
  async writeInBatches(run: Run): Promise<StoredImport> {
    const one = await this.#begin(run, 'running');
    const done = await this.#pass({ run: { ...run, one }, mode: 'write', state: 'running' });
    return await this.#finish(this.#options.database, run, done);
  }

  /**
   * Writes all rows or none: first checks every row, so that every error is reported; then writes them in one
   * transaction.
   */
  async writeAtomically(run: Run): Promise<StoredImport> {
    const one = await this.#restart(run, 'running');
    const pass: Pass = { run: { ...run, one }, mode: 'write', state: 'running' };
    const { counts } = await this.#judge(pass.run, 'running');
    if (counts.refused > 0) throw refusedRows(counts.refused);
    const writeAll = async (within: OwnTransaction) => {
      const done = await this.#pass({ ...pass, within });
      return { done, ended: await this.#finish(within, run, done) };
    };
    const { done, ended } = await run.connection.transaction(writeAll).catch(async (error: unknown) => {
      throw await explained(error, this.#options.database);
    });
    for (const announce of done.announcers) announce();
    return ended;
  }

  async #pass(pass: Pass): Promise<Done> {
    const { one, staging } = pass.run;
    const { counts, position, changes } = one;
    let done: Done = { ...NOTHING_DONE, ...one.trial, counts, position, changes };
    for await (const batch of this.#batches(pass, done.position)) {
      done = await this.#step(pass, done, async (transaction, scope, notes) => {
        const write = () => this.#write(pass, { transaction, scope, batch });
        const isTakenBack = pass.mode === 'try' && pass.within === undefined;
        const { outcome, refused } = await (isTakenBack ? rehearse(transaction, write) : write());
        if (one.options.missing === 'remove')
          await noteSeen(staging.placeOf(transaction, scope), one, outcome.records().values());
        if (pass.mode === 'write' && pass.within !== undefined && refused.length > 0)
          throw refusedRows(refused.length);
        await noteRefused(notes, one.id, stepOf(pass.state), refused);
        const isChange = pass.mode === 'write' && outcome.created.length + outcome.updated.length > 0;
        const next: Done = {
          ...done,
          counts: addCounts(done.counts, batch, outcome, refused),
          position: batch.position,
          changes: done.changes + (isChange ? 1 : 0),
          announcers: [...done.announcers, outcome.announceCommit],
        };
        if (pass.state === 'running') return next;
        const runs = outcomesOf(batch, outcome, refused);
        await noteOutcomes(notes, one.id, runs);
        const known = { records: outcome.records(), labels: batch.labels };
        const first = firstRowsOf(runs, known, MOST_PREVIEWED - done.preview.length);
        return { ...next, ...addChanges(done, outcome), preview: [...done.preview, ...first] };
      });
    }
    if (one.options.missing !== 'remove') return done;
    if (pass.mode === 'write' || pass.within !== undefined) return await this.#removeMissing(pass, done);
    return await this.#inTransaction(pass.run, (within) =>
      rehearse(within, () => this.#removeMissing({ ...pass, within }, done)),
    );
  }

  /** Removes the records that the file does not have. Refused rows prevent it; a dry run reports them. */
  async #removeMissing(pass: Pass, before: Done): Promise<Done> {
    const { one, staging } = pass.run;
    if (pass.mode === 'try' && before.counts.refused > 0) return before;
    assertRemovable(before.counts);
    let done = before;
    for (let removed = Number.POSITIVE_INFINITY; removed > 0; ) {
      done = await this.#step(pass, done, async (transaction, scope) => {
        const request = { condition: unseen(one), limit: this.#batchRows };
        removed = await staging.remove(transaction, scope, one.collection, request);
        const counts = { ...done.counts, removed: done.counts.removed + removed };
        const isChange = pass.mode === 'write' && removed > 0;
        return { ...done, counts, changes: done.changes + (isChange ? 1 : 0) };
      });
    }
    return done;
  }

  /**
   * Does a part of a pass in its transaction, or in one of its own, and stores the progress. `notes`: where
   * the outcomes of rows are stored. Those of a dry run must remain when its transaction is taken back.
   */
  async #step(
    pass: Pass,
    before: Done,
    work: (transaction: OwnTransaction, scope: Scope, notes: Queryable) => Promise<Done>,
  ): Promise<Done> {
    const { run, mode, state, within } = pass;
    const { one } = run;
    const { database, scopeOf } = this.#options;
    const step = async (transaction: OwnTransaction, scope: Scope) => {
      const own = mode === 'try' ? scope : withRequest(scope, one.id, before.changes + 1);
      const notes = mode === 'try' && within !== undefined ? database : transaction;
      const done = await work(transaction, own, notes);
      if (mode === 'write' && within !== undefined) {
        // A lock on the row of the import would prevent that it is cancelled.
        const now = goingOn(await findImport(database, one.id));
        if (now.state !== state) throw new StoppedError();
      } else {
        const { position, counts, changes } = done;
        const trial = state === 'trying' ? { trial: trialOf(done, '') } : {};
        const progress = { position, counts, changes, ...trial };
        goingOn(await updateImport(notes, one.id, { ...progress, from: [state] }));
      }
      return done;
    };
    if (within !== undefined) return await step(within, await scopeOf(one));
    const done = await this.#inTransaction(run, step);
    for (const announce of done.announcers) announce();
    return { ...done, announcers: [] };
  }

  async #finish(queryable: Queryable, { one }: Run, { counts, changes }: Done): Promise<StoredImport> {
    const changed = await updateImport(queryable, one.id, {
      from: ['running'],
      state: 'done',
      ...{ counts, changes },
      rowCount: counts.rows,
      endedAt: 'now',
    });
    const ended = orStopped(changed);
    await forgetSeen(queryable, one);
    return ended;
  }

  /** Continues the step where it stopped, or begins it. */
  async #begin(run: Run, state: 'trying' | 'running'): Promise<StoredImport> {
    const { one } = run;
    const isUnderWay = one.state === state && one.position > 0 && !(state === 'trying' && isSmall(one));
    return isUnderWay ? one : await this.#restart(run, state);
  }

  async #restart({ one, connection, triggers }: Run, state: 'trying' | 'running'): Promise<StoredImport> {
    const begun = await connection.transaction(async (transaction) => {
      await forgetOutcomes(transaction, one.id, stepOf(state));
      await forgetSeen(transaction, one);
      return await updateImport(transaction, one.id, {
        from: state === 'trying' ? [state] : ['waiting', state],
        ...{ state, position: 0, counts: NO_COUNTS, fault: null, triggers },
        ...{ startedAt: 'now', endedAt: null },
      });
    });
    return { ...orStopped(begun), trial: undefined };
  }

  get #batchRows(): number {
    return Math.min(BATCH_ROWS, this.#options.maxRecordsPerWrite);
  }

  async *#batches({ run, within }: Pass, position: number): AsyncGenerator<PreparedBatch, void> {
    const { one, collection, mapping, key, seed, signal, file, staging } = run;
    const { domain } = await this.#options.scopeOf(one);
    // Rows may refer to records that the same transaction has created.
    const queryable = within ?? this.#options.database;
    const scopeOf = () => this.#options.scopeOf(one);
    const lookups: ReferenceLookups = {
      findTargets: async (sought) => await staging.findTargets(queryable, await scopeOf(), sought),
      judgeLinks: async (sought) =>
        await staging.judgeLinks(queryable, await scopeOf(), one.collection, sought),
      findByField: async (sought) => await staging.findByField(queryable, await scopeOf(), sought),
    };
    const order = within !== undefined || pointsAtItself(collection) ? 'inTurn' : 'ahead';
    const of = one.inspection?.columns === undefined ? 'documents' : 'table';
    yield* this.#threads.prepare(
      { lookups, order, signal },
      {
        file: { path: file, name: one.name },
        source: { ...optionsFound(one.inspection), ...one.source },
        plan: { ...domain, collection, now: new Date(), key, seed, of, position },
        mapping: printExactJson(asJson(mapping)),
        batchRows: this.#batchRows,
      },
    );
  }

  /** Does the work in a transaction, and retries it after a conflict with a concurrent write. */
  async #inTransaction<T>(
    { one, connection }: Run,
    work: (transaction: OwnTransaction, scope: Scope) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const scope = await this.#options.scopeOf(one);
      try {
        return await this.#options.database.deadlocks.run(() =>
          connection.transaction((transaction) => work(transaction, scope)),
        );
      } catch (error) {
        const fault = await explained(error, this.#options.database);
        const isOvertaken = fault instanceof ServiceError && fault.code === 'CONFLICT';
        if (!isOvertaken || attempt === MAX_ATTEMPTS) throw fault;
      }
    }
  }

  async #write(
    { run: { one, staging, key, mapping }, mode }: Pass,
    work: { readonly transaction: OwnTransaction; readonly scope: Scope; readonly batch: PreparedBatch },
  ): Promise<{ readonly outcome: StagedOutcome; readonly refused: readonly RefusedRow[] }> {
    const { transaction, scope, batch } = work;
    const { lines, count, fields } = batch;
    const staged = { key, lines, count, fields, mode, now: new Date() };
    const outcome = await staging.write(transaction, scope, one.collection, staged);
    const sources = await batch.sourcesOf(outcome.refused.map(({ number }) => number));
    const columnAt = columnFinder(mapping);
    const refused = outcome.refused.map(({ number, errors }): RefusedRow => {
      return { number, errors: withColumns(errors, columnAt), source: sources.get(number) ?? [] };
    });
    return { outcome, refused: [...batch.refused, ...refused] };
  }
}

/** Whether all rows are tried in one transaction, which begins anew after an interruption. */
function isSmall({ inspection }: StoredImport): boolean {
  return inspection?.isWhole === true && (inspection.rows ?? 0) <= MOST_TRIED_AT_ONCE;
}

const NOTHING_DONE = { fields: {}, overwritten: {}, preview: [], announcers: [] };

function trialOf({ counts, fields, overwritten, preview }: Done, fingerprint: string): ImportTrial {
  return { counts, fields, overwritten, preview, fingerprint };
}

function stepOf(state: 'trying' | 'running'): 'try' | 'run' {
  return state === 'trying' ? 'try' : 'run';
}

function orStopped(one: StoredImport | undefined): StoredImport {
  if (one === undefined) throw new StoppedError();
  return one;
}

/** @throws StoppedError also if its caller has requested the end */
export function goingOn(one: StoredImport | undefined): StoredImport {
  if (one?.isStopped) throw new StoppedError();
  return orStopped(one);
}

/** Gives a batch its own change id, by which it is undone. */
function withRequest(scope: Scope, importId: string, number: number): Scope {
  return withCall(scope, { requestId: `${importId}.${number}`, operation: 'import' });
}

/** The options that the inspection has recognized, so that they are not detected again. */
function optionsFound(inspection: ImportInspection | undefined): SourceOptions {
  const { format, encoding, delimiter, sheet, header, unfold } = inspection ?? {};
  return defined({ format, encoding, delimiter, sheet, header, unfold });
}

function pointsAtItself({ name, fields }: Collection): boolean {
  const points = (members: Collection['fields']): boolean =>
    members.some((field) => field.targets.includes(name) || points(field.fields));
  return points(fields);
}

/** The record of a refused row would be taken for one that the file does not have. */
function assertRemovable({ rows, refused }: Pick<ImportCounts, 'rows' | 'refused'>): void {
  if (refused > 0) {
    const detail = `${refused} rows were refused, so no records that the file does not have were removed`;
    throw new ServiceError('CONFLICT', detail);
  }
  if (rows === 0) throw new ServiceError('INVALID_VALUE', 'the file has no rows, so nothing was removed');
}

function refusedRows(count: number): ServiceError {
  return new ServiceError(
    'INVALID_VALUE',
    `${count} rows are wrong, so nothing was written (mode=atomic); errors.csv has them with what is wrong`,
  );
}
