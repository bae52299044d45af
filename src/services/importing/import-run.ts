/** Writes the rows of an import, batch by batch; a dry run writes them and takes them back. */
import { ServiceError } from '../../base/errors.js';
import { type JsonValue, printExactJson } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import type { Database } from '../../store/database/database.js';
import type { OwnConnection, OwnTransaction, Queryable } from '../../store/database/queryable.js';
import { sql } from '../../store/sql.js';
import { explained, rehearse } from '../../store/writing/atomically.js';
import type { StagedOutcome, StagedWrites } from '../../store/writing/staged-writes.js';
import type { UniqueKey } from '../../store/writing/unique-key.js';
import type { TriggerNames } from '../../store/writing/write-triggers.js';
import type { ImportMapping } from './import-mapping.js';
import { type PreparedBatch, preparedBatches } from './preparing/prepared-batches.js';
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
  type RowOutcomes,
  unseen,
} from './row-outcomes.js';
import {
  addCounts,
  addFields,
  addOverwritten,
  findImport,
  fingerprintOf,
  type ImportChange,
  type ImportCounts,
  type ImportInspection,
  type ImportState,
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

/** The rows of a batch that were written or refused. */
interface WrittenBatch {
  readonly batch: PreparedBatch;
  readonly outcome: StagedOutcome;
  readonly refused: readonly RefusedRow[];
}

const BATCH_ROWS = 2_500;
/** The most attempts to write a batch that conflicts with concurrent writes. */
const MAX_ATTEMPTS = 5;
const MOST_PREVIEWED = 100;
/** So many rows are tried in one transaction, in which each row sees what earlier ones have changed. */
const MOST_TRIED_AT_ONCE = 100_000;

export class ImportRun {
  readonly #options: ImportRunOptions;

  constructor(options: ImportRunOptions) {
    this.#options = options;
  }

  /** Writes all rows and takes them back, so that what the write would refuse is known before it. */
  async dryRun(run: Run): Promise<StoredImport> {
    const begun = await this.#begin(run, ['trying'], 'trying');
    const judged = await this.#judge({ ...run, one: begun }, 'trying');
    const trial: ImportTrial = { ...judged, fingerprint: fingerprintOf(begun) };
    const changed = await updateImport(this.#options.database, begun.id, {
      from: ['trying'],
      state: 'tried',
      trial,
      rowCount: judged.counts.rows,
      endedAt: 'now',
    });
    return orStopped(changed);
  }

  async #judge(run: Run, state: 'trying' | 'running'): Promise<Judged> {
    return await (isSmall(run.one) ? this.#judgeAtOnce(run, state) : this.#judgeInBatches(run, state));
  }

  async #judgeAtOnce(run: Run, state: 'trying' | 'running'): Promise<Judged> {
    const { one } = run;
    const { database } = this.#options;
    return await this.#inTransaction(run, async (transaction, scope) => {
      await forgetJudged(database, one.id, state);
      let judged = NOTHING_JUDGED;
      let position = 0;
      await rehearse(transaction, async () => {
        for await (const batch of this.#batches({ ...run, transaction }, 0)) {
          const written = await this.#write(run, { transaction, scope, batch, mode: 'try' });
          const next = withBatch(judged, written);
          ({ judged } = next);
          ({ position } = batch);
          await this.#noteSeen(run, transaction, scope, written);
          // Noted past the transaction, which takes back the rest.
          await noteJudged(database, one.id, state, { refused: written.refused, runs: next.runs });
          await this.#note(database, one.id, state, { position, counts: judged.counts });
        }
        const removed = await this.#tryToRemove(run, transaction, scope, judged.counts);
        judged = { ...judged, counts: { ...judged.counts, removed } };
      });
      await this.#note(transaction, one.id, state, { position, counts: judged.counts });
      return judged;
    });
  }

  async #judgeInBatches(run: Run, state: 'trying' | 'running'): Promise<Judged> {
    const { one } = run;
    let judged: Judged = { ...NOTHING_JUDGED, ...one.trial, counts: one.counts };
    for await (const batch of this.#batches(run, one.position)) {
      judged = await this.#inTransaction(run, async (transaction, scope) => {
        const written = await rehearse(transaction, () =>
          this.#write(run, { transaction, scope, batch, mode: 'try' }),
        );
        const next = withBatch(judged, written);
        const { position } = batch;
        await noteJudged(transaction, one.id, state, { refused: written.refused, runs: next.runs });
        await this.#noteSeen(run, transaction, scope, written);
        await this.#note(transaction, one.id, state, {
          position,
          counts: next.judged.counts,
          ...(state === 'trying' && { trial: { ...next.judged, fingerprint: '' } }),
        });
        return next.judged;
      });
    }
    const removed = await this.#inTransaction(run, (transaction, scope) =>
      rehearse(transaction, () => this.#tryToRemove(run, transaction, scope, judged.counts)),
    );
    return { ...judged, counts: { ...judged.counts, removed } };
  }

  /** With `missing=remove`, stores the ids of the records that the file has. */
  async #noteSeen(
    { one, staging }: Run,
    transaction: OwnTransaction,
    scope: Scope,
    { outcome }: WrittenBatch,
  ): Promise<void> {
    if (one.options.missing !== 'remove') return;
    await noteSeen(staging.placeOf(transaction, scope), one, outcome.records().values());
  }

  /** The number of records that the run will remove. Rows that are refused prevent it, and are reported. */
  async #tryToRemove(
    { one, staging }: Run,
    transaction: OwnTransaction,
    scope: Scope,
    { rows, refused }: ImportCounts,
  ): Promise<number> {
    if (one.options.missing !== 'remove' || refused > 0) return 0;
    assertRemovable({ rows, refused });
    const request = { condition: unseen(one), limit: this.#batchRows };
    for (let count = 0; ; ) {
      const removed = await staging.remove(transaction, scope, one.collection, request);
      count += removed;
      if (removed === 0) return count;
    }
  }

  /** Writes the valid rows, one transaction per batch, and reports the others. */
  async writeInBatches(run: Run): Promise<StoredImport> {
    const begun = await this.#begin(run, ['waiting', 'running'], 'running');
    let { counts, changes } = begun;
    for await (const batch of this.#batches(run, begun.position)) {
      const done = await this.#inTransaction(run, async (transaction, scope) => {
        const number = changes + 1;
        const own = withRequest(scope, begun.id, number);
        const written = await this.#write(run, { transaction, scope: own, batch, mode: 'write' });
        const { outcome, refused } = written;
        const after = addCounts(counts, batch, outcome, refused);
        const isChange = outcome.created.length + outcome.updated.length > 0;
        await noteRefused(transaction, begun.id, 'run', refused);
        await this.#noteSeen(run, transaction, own, written);
        const noted = { position: batch.position, counts: after, changes: isChange ? number : changes };
        await this.#note(transaction, begun.id, 'running', noted);
        return { noted, outcome };
      });
      done.outcome.announceCommit();
      ({ counts, changes } = done.noted);
    }
    if (begun.options.missing === 'remove') {
      ({ counts, changes } = await this.#removeMissing(run, { counts, changes }));
    }
    return await this.#finish(this.#options.database, run, { counts, changes });
  }

  async #removeMissing(
    run: Run,
    before: { readonly counts: ImportCounts; readonly changes: number },
  ): Promise<{ readonly counts: ImportCounts; readonly changes: number }> {
    const { one, staging } = run;
    assertRemovable(before.counts);
    let done = before;
    for (;;) {
      const removed = await this.#inTransaction(run, async (transaction, scope) => {
        const own = withRequest(scope, one.id, done.changes + 1);
        const condition = unseen(one);
        const limit = this.#batchRows;
        const count = await staging.remove(transaction, own, one.collection, { condition, limit });
        const next = {
          counts: { ...done.counts, removed: done.counts.removed + count },
          changes: done.changes + (count > 0 ? 1 : 0),
        };
        await this.#note(transaction, one.id, 'running', next);
        return { count, next };
      });
      done = removed.next;
      if (removed.count === 0) return done;
    }
  }

  /**
   * Writes all rows or none: first checks every row, so that every error is reported; then writes them in one
   * transaction.
   */
  async writeAtomically(run: Run): Promise<StoredImport> {
    const begun = await this.#restart(run, ['waiting', 'running'], 'running');
    const judged = await this.#judge({ ...run, one: begun }, 'running');
    if (judged.counts.refused > 0) throw refusedRows(judged.counts.refused);
    if (begun.options.missing === 'remove') assertRemovable(judged.counts);
    const tellers: (() => void)[] = [];
    const writeAll = async (transaction: OwnTransaction) => {
      let counts = NO_COUNTS;
      let { changes } = begun;
      for await (const batch of this.#batches({ ...run, transaction }, 0)) {
        await this.#assertGoesOn(begun.id);
        const own = withRequest(await this.#options.scopeOf(begun), begun.id, changes + 1);
        const written = await this.#write(run, { transaction, scope: own, batch, mode: 'write' });
        const { outcome, refused } = written;
        if (refused.length > 0) throw refusedRows(refused.length);
        await this.#noteSeen(run, transaction, own, written);
        counts = addCounts(counts, batch, outcome, refused);
        if (outcome.created.length + outcome.updated.length > 0) changes += 1;
        tellers.push(outcome.announceCommit);
      }
      let removed = begun.options.missing === 'remove' ? Number.POSITIVE_INFINITY : 0;
      while (removed > 0) {
        const own = withRequest(await this.#options.scopeOf(begun), begun.id, changes + 1);
        const request = { condition: unseen(begun), limit: this.#batchRows };
        removed = await run.staging.remove(transaction, own, begun.collection, request);
        counts = { ...counts, removed: counts.removed + removed };
        changes += removed > 0 ? 1 : 0;
      }
      return await this.#finish(transaction, run, { counts, changes });
    };
    const ended = await run.connection.transaction(writeAll).catch(async (error: unknown) => {
      throw await explained(error, this.#options.database);
    });
    for (const announceCommit of tellers) announceCommit();
    return ended;
  }

  async #finish(
    queryable: Queryable,
    { one }: Run,
    done: { readonly counts: ImportCounts; readonly changes: number },
  ): Promise<StoredImport> {
    const changed = await updateImport(queryable, one.id, {
      from: ['running'],
      state: 'done',
      ...done,
      rowCount: done.counts.rows,
      endedAt: 'now',
    });
    const ended = orStopped(changed);
    await forgetSeen(queryable, one);
    return ended;
  }

  /** Continues the step where it stopped, or begins it. */
  async #begin(run: Run, from: readonly ImportState[], state: 'trying' | 'running'): Promise<StoredImport> {
    const { one } = run;
    const isUnderWay = one.state === state && one.position > 0 && !(state === 'trying' && isSmall(one));
    if (!isUnderWay) return await this.#restart(run, from, state);
    return one;
  }

  async #restart(
    { one, connection, triggers }: Run,
    from: readonly ImportState[],
    state: 'trying' | 'running',
  ): Promise<StoredImport> {
    const begun = await connection.transaction(async (transaction) => {
      await forgetJudged(transaction, one.id, state);
      await forgetSeen(transaction, one);
      return await updateImport(transaction, one.id, {
        from,
        state,
        position: 0,
        counts: NO_COUNTS,
        fault: null,
        triggers,
        startedAt: 'now',
        endedAt: null,
      });
    });
    return { ...orStopped(begun), trial: undefined };
  }

  get #batchRows(): number {
    return Math.min(BATCH_ROWS, this.#options.maxRecordsPerWrite);
  }

  async *#batches(
    run: Run & { readonly transaction?: OwnTransaction },
    position: number,
  ): AsyncGenerator<PreparedBatch, void> {
    const { one, collection, mapping, key, seed, signal, file, transaction, staging } = run;
    const { timeZone, callingCode } = (await this.#options.scopeOf(one)).domain;
    // Rows may refer to records that the same transaction has created.
    const queryable = transaction ?? this.#options.database;
    const scopeOf = () => this.#options.scopeOf(one);
    const lookups: ReferenceLookups = {
      findTargets: async (sought) => await staging.findTargets(queryable, await scopeOf(), sought),
      judgeLinks: async (sought) =>
        await staging.judgeLinks(queryable, await scopeOf(), one.collection, sought),
      findByField: async (asked) => await staging.findByField(queryable, await scopeOf(), asked),
    };
    const order = transaction !== undefined || pointsAtItself(collection) ? 'inTurn' : 'ahead';
    const of = one.inspection?.columns === undefined ? 'documents' : 'table';
    yield* preparedBatches(
      { lookups, order, signal },
      {
        file: { path: file, name: one.name },
        source: { ...optionsFound(one.inspection), ...one.source },
        plan: { collection, timeZone, callingCode, now: new Date(), key, seed, of, position },
        mapping: printExactJson(mapping as unknown as JsonValue),
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
    run: Run,
    work: {
      readonly transaction: OwnTransaction;
      readonly scope: Scope;
      readonly batch: PreparedBatch;
      readonly mode: 'write' | 'try';
    },
  ): Promise<WrittenBatch> {
    const { transaction, scope, batch, mode } = work;
    const { one, staging, key, mapping } = run;
    const { lines, count, fields } = batch;
    const staged = { key, lines, count, fields, mode, now: new Date() };
    const outcome = await staging.write(transaction, scope, one.collection, staged);
    const sources = await batch.sourcesOf(outcome.refused.map(({ number }) => number));
    const columnAt = columnFinder(mapping);
    const refused = outcome.refused.map(({ number, errors }): RefusedRow => {
      return { number, errors: withColumns(errors, columnAt), source: sources.get(number) ?? [] };
    });
    return { batch, outcome, refused: [...batch.refused, ...refused] };
  }

  /** Stores the progress. @throws StoppedError if the import was cancelled */
  async #note(
    queryable: Queryable,
    id: string,
    state: 'trying' | 'running',
    change: ImportChange,
  ): Promise<void> {
    const noted = orStopped(await updateImport(queryable, id, { ...change, from: [state] }));
    if (noted.isStopped) throw new StoppedError();
  }

  async #assertGoesOn(id: string): Promise<void> {
    const one = await findImport(this.#options.database, id);
    if (one?.state !== 'running' || one.isStopped) throw new StoppedError();
  }
}

/** Whether all rows are tried in one transaction, which begins anew after an interruption. */
function isSmall({ inspection }: StoredImport): boolean {
  return inspection?.isWhole === true && (inspection.rows ?? 0) <= MOST_TRIED_AT_ONCE;
}

type Judged = Omit<ImportTrial, 'fingerprint'>;

const NOTHING_JUDGED: Judged = { counts: NO_COUNTS, fields: {}, overwritten: {}, preview: [] };

/** Adds the rows of a batch to what was found before. */
function withBatch(
  { counts, fields, overwritten, preview }: Judged,
  { batch, outcome, refused }: WrittenBatch,
): { readonly judged: Judged; readonly runs: readonly RowOutcomes[] } {
  const runs = outcomesOf(batch, outcome, refused);
  const known = { records: outcome.records(), labels: batch.labels };
  const judged = {
    counts: addCounts(counts, batch, outcome, refused),
    fields: addFields(fields, outcome),
    overwritten: addOverwritten(overwritten ?? {}, outcome),
    preview: [...preview, ...firstRowsOf(runs, known, MOST_PREVIEWED - preview.length)],
  };
  return { judged, runs };
}

async function noteJudged(
  db: Queryable,
  id: string,
  state: 'trying' | 'running',
  judged: { readonly refused: readonly RefusedRow[]; readonly runs: readonly RowOutcomes[] },
): Promise<void> {
  await noteRefused(db, id, state === 'trying' ? 'try' : 'run', judged.refused);
  if (state === 'trying') await noteOutcomes(db, id, judged.runs);
}

/** Deletes what an earlier attempt has noted. */
async function forgetJudged(db: Queryable, id: string, state: 'trying' | 'running'): Promise<void> {
  const step = state === 'trying' ? 'try' : 'run';
  await db.query(sql`delete from import_errors where import_id = ${id}::uuid and step = ${step}`);
  if (state === 'trying') await forgetOutcomes(db, id);
}

function orStopped(one: StoredImport | undefined): StoredImport {
  if (one === undefined) throw new StoppedError();
  return one;
}

/** Gives a batch its own change id, by which it is undone. */
function withRequest(scope: Scope, importId: string, number: number): Scope {
  return { ...scope, requestId: `${importId}.${number}`, operation: 'import' };
}

/** What the inspection has recognized, so that it is not detected again. */
function optionsFound(inspection: ImportInspection | undefined): SourceOptions {
  const { format, encoding, delimiter, sheet, header, unfold } = inspection ?? {};
  const found = { format, encoding, delimiter, sheet, header, unfold };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
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
