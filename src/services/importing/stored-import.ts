/** The table of imports. A statement names the domain, unless it belongs to the job of one import. */

import { createHash } from 'node:crypto';
import { validate as isUuid } from 'uuid';
import {
  asJson,
  defined,
  type JsonObject,
  type JsonValue,
  parsePlainJson,
  printExactJson,
} from '../../base/json/json.js';
import type { WorkPrincipal } from '../../base/model/scope.js';
import {
  type KeysetPage,
  type KeysetRequest,
  newestFirst,
  toKeysetPage,
} from '../../store/database/keyset.js';
import { fromRow, type Queryable, type RowOf } from '../../store/database/queryable.js';
import { allHold, type Sql, sql } from '../../store/sql.js';
import type { StagedFieldChange } from '../../store/writing/staged-work.js';
import type { StagedOutcome } from '../../store/writing/staged-writes.js';
import type { TriggerChoice, TriggerNames } from '../../store/writing/write-triggers.js';
import type { ImportMapping } from './import-mapping.js';
import { noImport } from './mapping-target.js';
import type { PreparedRows, RefusedRow } from './preparing/row-preparer.js';
import type { ColumnInspection } from './reading/column-findings.js';
import type { SourceInspection } from './reading/inspect-source.js';
import type { SourceOptions } from './reading/row-source.js';

/**
 * `received`: its file is there · `inspecting` · `ready`: has a mapping · `trying`: the dry run · `tried` ·
 * `waiting`: to be run · `running` · `done` · `undoing` · `undone` · `failed` · `cancelled`.
 */
export type ImportState =
  | 'received'
  | 'inspecting'
  | 'ready'
  | 'trying'
  | 'tried'
  | 'waiting'
  | 'running'
  | 'done'
  | 'undoing'
  | 'undone'
  | 'failed'
  | 'cancelled';

/** The states in which a process works on the import, or is about to. */
export const UNDER_WAY = ['received', 'inspecting', 'trying', 'waiting', 'running', 'undoing'] as const;

/** Whether nothing more happens to the import without a request of its caller. */
export function isOver({ state }: Pick<StoredImport, 'state'>): boolean {
  return state === 'done' || state === 'undone' || state === 'failed' || state === 'cancelled';
}

/** The numbers of the changes of an import that are not undone, in their order. */
export function changesOf({ changes, undone }: Pick<StoredImport, 'changes' | 'undone'>): readonly number[] {
  const gone = new Set(undone);
  return Array.from({ length: changes }, (_, index) => index + 1).filter((number) => !gone.has(number));
}

/** How the rows are written. */
export interface ImportOptions {
  /** `atomic`: all rows or none. `rows`: the valid rows; the others are reported. */
  readonly mode: 'atomic' | 'rows';
  /** The key that identifies records: `_id`, a unique field, or a rule of fields unique together. */
  readonly by: string;
  /** Whether records that the file does not have are kept or removed. */
  readonly missing: 'keep' | 'remove';
  readonly triggers: TriggerChoice;
  /** Whether an admin undoes the import although other records point to its records. */
  readonly force?: boolean;
}

/** The result of a dry run. */
export interface ImportTrial {
  readonly counts: ImportCounts;
  /** In how many records each field would change. */
  readonly fields: Readonly<Record<string, number>>;
  /** In how many records each field would lose a value that it has. */
  readonly overwritten?: Readonly<Record<string, number>>;
  /** The outcomes of the first rows. */
  readonly preview: readonly PreviewedRow[];
  /** Identifies the mapping and the options of the dry run. */
  readonly fingerprint: string;
}

type Optional<Of> = { readonly [Name in keyof Of]?: Of[Name] | undefined };

export interface ImportInspection
  extends Pick<SourceInspection, 'format' | 'warnings'>,
    Optional<Pick<SourceOptions, 'unfold'>>,
    Optional<Omit<SourceInspection, 'format' | 'warnings' | 'columns' | 'faults'>> {
  readonly columns?: readonly string[] | undefined;
  /** The findings of the inspection in the columns. */
  readonly found?: readonly ColumnInspection[] | undefined;
}

export interface StoredImport {
  readonly id: string;
  readonly domainId: string;
  readonly collection: string;
  readonly state: ImportState;
  readonly name: string;
  readonly fileId: string;
  readonly ownsFile: boolean;
  readonly source: SourceOptions;
  readonly inspection: ImportInspection | undefined;
  readonly mapping: ImportMapping | undefined;
  readonly options: ImportOptions;
  readonly position: number;
  readonly counts: ImportCounts;
  readonly rowCount: number | undefined;
  readonly trial: ImportTrial | undefined;
  readonly changes: number;
  /** The numbers of the undone changes. */
  readonly undone: readonly number[];
  /** The scripts that run for its records. */
  readonly triggers: TriggerNames | undefined;
  readonly fault: JsonObject | undefined;
  /** The caller as whom it writes. Roles granted later do not apply to it. */
  readonly principal: WorkPrincipal;
  readonly createdBy: string;
  readonly isStopped: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
}

/** The changes of an import; absent properties stay as they are, and `null` removes one. */
export type ImportChange = Partial<Omit<StoredImport, 'fault' | 'startedAt' | 'endedAt'>> & {
  readonly fault?: JsonObject | null;
  readonly startedAt?: 'now' | null;
  readonly endedAt?: 'now' | null;
};

/** The properties that are columns of JSON, and the others. */
const JSON_NAMES = [
  ...(['source', 'inspection', 'mapping', 'options', 'counts'] as const),
  ...(['trial', 'triggers', 'fault', 'principal'] as const),
];
const PLAIN_NAMES = [
  ...(['id', 'domainId', 'collection', 'state', 'name', 'fileId', 'ownsFile', 'position'] as const),
  ...(['rowCount', 'changes', 'undone', 'createdBy', 'isStopped', 'createdAt', 'updatedAt'] as const),
  ...(['startedAt', 'endedAt'] as const),
];

/** `started_at` of `startedAt`. */
function columnOf(name: string): string {
  return name === 'domainId' ? 'domain' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The column and the value of each property that is there. */
function cellsOf(one: ImportChange): readonly { readonly column: Sql; readonly value: Sql }[] {
  return Object.entries(defined(one)).map(([name, value]) => {
    const isJson = value !== null && JSON_NAMES.some((json) => json === name);
    return {
      column: sql.raw(columnOf(name)),
      value: isJson ? sql`${printExactJson(value as JsonValue)}::jsonb` : sql`${value}`,
    };
  });
}

/** The channel on which a change of an import is announced, by its id. */
export const IMPORTS_CHANNEL = 'campus_imports';

/** The properties that a new import is given. */
type Given = 'id' | 'domainId' | 'collection' | 'name' | 'fileId' | 'ownsFile' | 'source' | 'principal';

export async function insertImport(
  db: Queryable,
  one: Pick<StoredImport, Given | 'mapping' | 'options'>,
): Promise<void> {
  const cells = cellsOf({ ...one, state: 'received', createdBy: one.principal.id });
  await db.query(sql`
    with inserted as (
      insert into imports (${sql.join(cells.map(({ column }) => column))})
      values (${sql.join(cells.map(({ value }) => value))})
      returning id
    )
    select pg_notify(campus_channel(${IMPORTS_CHANNEL}), inserted.id::text)::text as announced
    from inserted`);
}

/** `from`: the states in which it may be changed. Returns `undefined` in any other, and changes nothing. */
export async function updateImport(
  db: Queryable,
  id: string,
  { from, ...change }: ImportChange & { readonly from: readonly ImportState[] },
): Promise<StoredImport | undefined> {
  const sets = cellsOf(change).map(({ column, value }) => sql`${column} = ${value}`);
  const rows = await db.query<ImportRow>(sql`
    with changed as (
      update imports i
      set ${sql.join([sql`updated_at = now()`, ...sets])}
      where i.id = ${id}::uuid and i.state = any(${[...from]}::text[])
      returning ${SELECTED}
    )
    select changed.*, pg_notify(campus_channel(${IMPORTS_CHANNEL}), changed.id::text)::text as announced
    from changed`);
  return rows[0] && toImport(rows[0]);
}

export async function findImport(db: Queryable, id: string): Promise<StoredImport | undefined> {
  const [row] = await db.query<ImportRow>(sql`select ${SELECTED} from imports i where i.id = ${id}::uuid`);
  return row && toImport(row);
}

/** @throws NOT_FOUND */
export async function getImport(db: Queryable, id: string): Promise<StoredImport> {
  const one = isUuid(id) ? await findImport(db, id) : undefined;
  if (one === undefined) throw noImport(id);
  return one;
}

/** The newest first, because ids increase with time. */
export async function listImports(
  db: Queryable,
  domainId: string,
  {
    createdBy,
    except,
    state,
    ...request
  }: KeysetRequest & {
    readonly createdBy: string | undefined;
    /** Collections whose imports are left out. */
    readonly except: readonly string[];
    readonly state: string | undefined;
  },
): Promise<KeysetPage<StoredImport>> {
  const page = newestFirst(request, sql`i.id`, 'uuid');
  const conditions = [
    sql`i.domain = ${domainId}`,
    sql`i.collection <> all(${[...except]}::text[])`,
    createdBy !== undefined && sql`i.created_by = ${createdBy}`,
    state !== undefined && sql`i.state = ${state}`,
    page.condition,
  ];
  const rows = await db.query<ImportRow>(sql`
    select ${SELECTED}
    from imports i
    where ${allHold(conditions)}
    ${page.tail}`);
  return toKeysetPage(rows.map(toImport), request);
}

/** The columns of JSON are read as text, so that long numbers keep their digits. */
const SELECTED = sql.raw(
  [
    ...PLAIN_NAMES.map((name) => `i.${columnOf(name)} as "${name}"`),
    ...JSON_NAMES.map((name) => `i.${columnOf(name)}::text as "${name}"`),
  ].join(', '),
);

type ImportRow = RowOf<StoredImport>;

function toImport(row: ImportRow): StoredImport {
  const texts: Readonly<Record<string, unknown>> = row;
  const parsed = JSON_NAMES.map((name) => [name, parsePlainJson(String(texts[name] ?? 'null'))]);
  const one = fromRow<StoredImport>({ ...row, ...Object.fromEntries(parsed) });
  return {
    ...one,
    source: one.source ?? {},
    options: one.options ?? DEFAULT_OPTIONS,
    counts: { ...NO_COUNTS, ...one.counts },
  };
}

export const DEFAULT_OPTIONS: ImportOptions = { mode: 'atomic', by: '', missing: 'keep', triggers: [] };

/** Identifies what a dry run was made with: after a change of the mapping, it must be repeated. */
export function fingerprintOf({ mapping, options }: Pick<StoredImport, 'mapping' | 'options'>): string {
  const tried = printExactJson([asJson(mapping ?? null), options.by, options.missing]);
  return createHash('sha256').update(tried).digest('hex').slice(0, 32);
}

export interface ImportCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly same: number;
  readonly refused: number;
  /** Records that were removed because the file does not have them. */
  readonly removed: number;
}

export const NO_COUNTS: ImportCounts = { rows: 0, created: 0, updated: 0, same: 0, refused: 0, removed: 0 };

export interface PreviewedRow {
  readonly number: number;
  readonly outcome: 'create' | 'update' | 'same' | 'error';
  /** For an update: the fields that would change. */
  readonly fields?: readonly string[] | undefined;
  /** For an update: the old and the new value of each field that the caller may read. */
  readonly changes?: readonly StagedFieldChange[] | undefined;
  /** For an update, and for a row without a change: the existing record. */
  readonly recordId?: string | undefined;
  /** The label that the row gives its record. */
  readonly label?: string | undefined;
}

export function addCounts(
  counts: ImportCounts,
  batch: Pick<PreparedRows, 'rows'>,
  outcome: Pick<StagedOutcome, 'created' | 'updated' | 'same'>,
  refused: readonly RefusedRow[],
): ImportCounts {
  return {
    ...counts,
    rows: counts.rows + batch.rows,
    created: counts.created + outcome.created.length,
    updated: counts.updated + outcome.updated.length,
    same: counts.same + outcome.same,
    refused: counts.refused + refused.length,
  };
}

/** Adds a dry run's changes: in how many records each field changes, and loses a value that it has. */
export function addChanges(
  { fields, overwritten = {} }: Pick<ImportTrial, 'fields' | 'overwritten'>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Required<Pick<ImportTrial, 'fields' | 'overwritten'>> {
  const lost = updated.flatMap(({ changes = [] }) =>
    changes.flatMap(({ field, before = null }) => (before === null || before === '' ? [] : [field])),
  );
  const changed = updated.flatMap((one) => one.fields);
  return { fields: withNames(fields, changed), overwritten: withNames(overwritten, lost) };
}

function withNames(
  fields: Readonly<Record<string, number>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const counts = new Map(Object.entries(fields));
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
