/** The outcome of each row in a dry run: stored batch by batch, printed as a table. */
import { asJson, defined, type JsonValue, printExactJson } from '../../base/json/json.js';
import { printCsvLine } from '../../base/tables/csv-line.js';
import type { Queryable } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import type { StagedFieldChange, StagingPlace } from '../../store/writing/staged-work.js';
import type { StagedOutcome } from '../../store/writing/staged-writes.js';
import { REST_HEADING } from '../exporting/record-columns.js';
import type { RowFault } from './preparing/row-mapper.js';
import type { PreparedRows, RefusedRow } from './preparing/row-preparer.js';
import { ERROR_COLUMN } from './propose-mapping.js';
import type { PreviewedRow, StoredImport } from './stored-import.js';

/** Consecutive rows with the same outcome, by the numbers of the first and the last. */
export type RowOutcomes = readonly [
  first: number,
  last: number,
  outcome: PreviewedRow['outcome'],
  /** For updates: the fields that would change. */
  fields?: readonly string[],
  /** For updates: their old and new values, as far as the caller may read them. Such a run is of one row. */
  changes?: readonly StagedFieldChange[],
];

/** The rows of a batch, in the order of the file. */
export function outcomesOf(
  { staged }: Pick<PreparedRows, 'staged'>,
  { created, updated }: Pick<StagedOutcome, 'created' | 'updated'>,
  refused: readonly Pick<RefusedRow, 'number'>[],
): readonly RowOutcomes[] {
  const rows = new Map<number, Omit<PreviewedRow, 'number'>>();
  for (const [first, last] of staged) {
    for (let number = first; number <= last; number += 1) rows.set(number, { outcome: 'same' });
  }
  for (const number of created) rows.set(number, { outcome: 'create' });
  for (const { number, fields, changes } of updated) {
    rows.set(number, { outcome: 'update', fields, changes: changes?.map(clipped) });
  }
  for (const { number } of refused) rows.set(number, { outcome: 'error' });
  const runs: RowOutcomes[] = [];
  for (const [number, { outcome, fields, changes }] of [...rows].sort(([one], [other]) => one - other)) {
    const run = runs.at(-1);
    const isNext = run?.[1] === number - 1 && run[2] === outcome && fields === undefined;
    const first = isNext ? run[0] : number;
    if (isNext) runs.pop();
    if (fields === undefined) runs.push([first, number, outcome]);
    else if (changes === undefined) runs.push([first, number, outcome, fields]);
    else runs.push([first, number, outcome, fields, changes]);
  }
  return runs;
}

interface KnownOfRows {
  /** The ids of the records of the rows, by row number. */
  readonly records: ReadonlyMap<number, string>;
  /** The labels of the rows, by row number. */
  readonly labels: ReadonlyMap<number, string>;
}

/** The first rows of these runs, one by one. */
export function firstRowsOf(
  runs: readonly RowOutcomes[],
  { records, labels }: KnownOfRows,
  limit: number,
): readonly PreviewedRow[] {
  const rows: PreviewedRow[] = [];
  for (const [first, last, outcome, fields, changes] of runs) {
    for (let number = first; number <= last; number += 1) {
      if (rows.length === limit) return rows;
      // A record that would be created has no id yet.
      const recordId = outcome === 'create' ? undefined : records.get(number);
      const label = labels.get(number);
      rows.push(defined({ number, outcome, fields, changes, recordId, label }));
    }
  }
  return rows;
}

const MOST_SHOWN = 200;

/** Long values are cut, as text: a dry run is kept with the import. */
function clipped({ field, before, after }: StagedFieldChange): StagedFieldChange {
  return { field, before: cut(before), after: cut(after) };
}

function cut(value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === 'string' ? value : printExactJson(value);
  return text.length <= MOST_SHOWN ? value : `${text.slice(0, MOST_SHOWN)}…`;
}

export async function noteOutcomes(
  db: Queryable,
  importId: string,
  runs: readonly RowOutcomes[],
): Promise<void> {
  const [first] = runs;
  if (first === undefined) return;
  await db.query(sql`
    insert into import_outcomes (import_id, first_row, runs)
    values (${importId}::uuid, ${first[0]}::bigint, ${printExactJson(asJson(runs))}::jsonb)`);
}

/** Deletes what an earlier attempt of the step has noted. */
export async function forgetOutcomes(db: Queryable, importId: string, step: 'try' | 'run'): Promise<void> {
  await db.query(sql`delete from import_errors where import_id = ${importId}::uuid and step = ${step}`);
  if (step === 'try') await db.query(sql`delete from import_outcomes where import_id = ${importId}::uuid`);
}

const HEADINGS = ['row', 'outcome', 'fields', 'error', 'changes'];

/** All rows of the last dry run as CSV, in the order of the file; holds one batch at a time. */
export async function* printOutcomes(db: Queryable, importId: string): AsyncGenerator<string, void> {
  yield printCsvLine(HEADINGS);
  for (let last = -1; ; ) {
    const [batch] = await db.query<{ runs: readonly RowOutcomes[] }>(sql`
      select o.runs
      from import_outcomes o
      where o.import_id = ${importId}::uuid and o.first_row > ${last}::bigint
      order by o.first_row
      limit 1`);
    if (batch === undefined) return;
    const after = last;
    last = batch.runs.at(-1)?.[1] ?? last;
    const errors = await errorsBetween(db, importId, { after, last });
    const lines = batch.runs.flatMap(([first, end, outcome, fields, changes]) =>
      Array.from({ length: end - first + 1 }, (_, index) =>
        printCsvLine([
          String(first + index),
          outcome,
          fields?.join(', ') ?? null,
          errors.get(first + index) ?? null,
          changes?.map(printChange).join('; ') ?? null,
        ]),
      ),
    );
    yield lines.join('');
  }
}

function printChange({ field, before = null, after = null }: StagedFieldChange): string {
  return `${field}: ${printExactJson(before)} → ${printExactJson(after)}`;
}

/** The errors of rows, by row number. */
async function errorsBetween(
  db: Queryable,
  importId: string,
  { after, last }: { readonly after: number; readonly last: number },
): Promise<ReadonlyMap<number, string>> {
  const rows = await db.query<{ number: number; errors: readonly RowFault[] }>(sql`
    select e.row_number as number, e.errors
    from import_errors e
    where e.import_id = ${importId}::uuid and e.step = 'try' and e.row_number > ${after}::bigint
      and e.row_number <= ${last}::bigint`);
  return new Map(rows.map(({ number, errors }) => [number, errors.map(({ detail }) => detail).join('; ')]));
}

export async function noteRefused(
  db: Queryable,
  importId: string,
  step: 'try' | 'run',
  refused: readonly RefusedRow[],
): Promise<void> {
  if (refused.length === 0) return;
  await db.query(sql`
    insert into import_errors (import_id, step, row_number, errors, source)
    select ${importId}::uuid, ${step}, (e->>'number')::bigint, e->'errors', e->'source'
    from jsonb_array_elements(${printExactJson(asJson(refused))}::jsonb) as e`);
}

type SeeingImport = Pick<StoredImport, 'id' | 'domainId'>;

/** Stores the ids of the records that the file has. */
export async function noteSeen(
  place: Pick<StagingPlace, 'run'>,
  one: SeeingImport,
  ids: Iterable<string>,
): Promise<void> {
  await place.run(sql`
    insert into import_seen (domain, import_id, record_id)
    select ${one.domainId}, ${one.id}::uuid, seen.id
    from unnest(${[...ids]}::text[]) as seen (id)
    on conflict do nothing`);
}

/** The records `r` that the file does not have. */
export function unseen({ domainId, id }: SeeingImport): Sql {
  return sql`not exists (
    select 1
    from import_seen seen
    where seen.domain = ${domainId} and seen.import_id = ${id}::uuid and seen.record_id = r.id)`;
}

/** Deletes the ids that `noteSeen` has stored: the step begins anew, or has ended. */
export async function forgetSeen(db: Queryable, { domainId, id }: SeeingImport): Promise<void> {
  await db.query(sql`
    delete from import_seen where domain = ${domainId} and import_id = ${id}::uuid`);
}

const ROWS_AT_ONCE = 1_000;

/** The rows that the last step has refused, in the order of the file. */
export async function listRefusedRows(
  db: Queryable,
  one: StoredImport,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly RefusedRow[]> {
  return await db.query<RefusedRow>(sql`
    select e.row_number as number, e.errors, e.source
    from import_errors e
    where e.import_id = ${one.id}::uuid and e.step = ${stepOf(one)} and e.row_number > ${after}::bigint
    order by e.row_number
    limit ${limit}`);
}

/**
 * All refused rows as CSV: the columns of the file, or one column with whole documents, and a last column
 * with the errors. Once corrected, it can be imported as a file of its own.
 */
export async function* printRefusedRows(db: Queryable, one: StoredImport): AsyncGenerator<string, void> {
  // An import reads this column as the fields of the record, so it may hold a whole document.
  const columns = one.inspection?.columns ?? [REST_HEADING];
  const kept = columns.filter((column) => column !== ERROR_COLUMN);
  const places = kept.map((column) => columns.indexOf(column));
  yield printCsvLine([...kept, ERROR_COLUMN]);
  for (let after = -1; ; ) {
    const rows = await listRefusedRows(db, one, { after, limit: ROWS_AT_ONCE });
    if (rows.length === 0) return;
    yield rows
      .map(({ source, errors, number }) => {
        const wrong = errors.map(({ detail }) => detail).join('; ');
        return printCsvLine([...places.map((place) => source[place] || null), `row ${number}: ${wrong}`]);
      })
      .join('');
    after = rows.at(-1)?.number ?? after;
  }
}

/** The step whose errors are shown: the run once it has begun, else the dry run. */
function stepOf({ state, trial, startedAt }: StoredImport): 'try' | 'run' {
  if (state === 'trying' || state === 'tried') return 'try';
  if (state === 'ready' || state === 'waiting')
    return trial === undefined && startedAt !== undefined ? 'run' : 'try';
  return 'run';
}
