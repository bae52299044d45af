/** The table of imports. A statement names the domain, unless it belongs to the job of one import. */

import { createHash } from 'node:crypto';
import { type JsonObject, type JsonValue, parsePlainJson, printExactJson } from '../../base/json/json.js';
import type { KeyScopes } from '../../base/model/scope.js';
import { fromRow, type RowOf } from '../../store/database/from-row.js';
import {
  compileKeyset,
  type KeysetPage,
  type KeysetRequest,
  toKeysetPage,
} from '../../store/database/keyset.js';
import type { Queryable } from '../../store/database/queryable.js';
import { type Sql, sql } from '../../store/sql.js';
import type { StagedFieldChange } from '../../store/writing/staged-work.js';
import type { StagedOutcome } from '../../store/writing/staged-writes.js';
import type { TriggerChoice, TriggerNames } from '../../store/writing/write-triggers.js';
import { type ImportMapping, toImportMapping } from './import-mapping.js';
import type { PreparedRows, RefusedRow } from './preparing/row-preparer.js';
import type { ColumnInspection } from './reading/column-findings.js';
import type { SourceFormat, SourceOptions, UnfoldedDays } from './reading/row-source.js';

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
  /** What happens to records that the file does not have. */
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

/** The caller as whom an import writes; its present rights are found by the credential. */
export interface ImportPrincipal {
  readonly kind: 'user' | 'system';
  readonly id: string;
  readonly domainId: string;
  readonly credential: { readonly kind: 'token' | 'key' | 'system'; readonly id: string };
  /** The roles at the time of the request: roles granted later do not apply to this import. */
  readonly roles: readonly string[];
  readonly scopes: KeyScopes | undefined;
}

export interface ImportInspection {
  readonly format: SourceFormat;
  readonly encoding?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly sheet?: string | undefined;
  readonly sheets?: readonly string[] | undefined;
  readonly header?: number | 'none' | undefined;
  readonly unfold?: UnfoldedDays | undefined;
  readonly columns?: readonly string[] | undefined;
  readonly warnings: readonly string[];
  /** The number of inspected rows. */
  readonly rows?: number | undefined;
  /** Whether these are all rows of the file. */
  readonly isWhole?: boolean | undefined;
  /** What the inspection found in the columns. */
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
  readonly principal: ImportPrincipal;
  readonly createdBy: string;
  readonly isStopped: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
}

/** The changes of an import; absent properties stay as they are. */
export type ImportChange = Partial<
  Pick<
    StoredImport,
    | 'state'
    | 'inspection'
    | 'mapping'
    | 'options'
    | 'position'
    | 'counts'
    | 'rowCount'
    | 'trial'
    | 'changes'
    | 'undone'
    | 'triggers'
    | 'isStopped'
    | 'principal'
  >
> & {
  /** `null` removes the fault. */
  readonly fault?: JsonObject | null;
  readonly startedAt?: 'now' | null;
  readonly endedAt?: 'now' | null;
};

/** The channel on which a change of an import is announced, by its id. */
export const IMPORTS_CHANNEL = 'campus_imports';

export async function insertImport(
  db: Queryable,
  one: Pick<
    StoredImport,
    'id' | 'domainId' | 'collection' | 'name' | 'fileId' | 'ownsFile' | 'source' | 'options' | 'principal'
  > & { readonly mapping: ImportMapping | undefined },
): Promise<void> {
  await db.query(sql`
    with inserted as (
      insert into imports (id, domain, collection, state, name, file_id, owns_file, source, mapping, options,
        principal, created_by)
      values (${one.id}::uuid, ${one.domainId}, ${one.collection}, 'received', ${one.name},
        ${one.fileId}::uuid, ${one.ownsFile}, ${json(one.source)}::jsonb, ${json(one.mapping)}::jsonb,
        ${json(one.options)}::jsonb, ${json(one.principal)}::jsonb, ${one.principal.id})
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
  const sets = [
    sql`updated_at = now()`,
    ...Object.entries(COLUMNS_OF_CHANGES).flatMap(([name, set]) => {
      const value = change[name as keyof typeof change];
      return value === undefined ? [] : [set(value)];
    }),
  ];
  const rows = await db.query<ImportRow>(sql`
    with changed as (
      update imports i
      set ${sql.join(sets)}
      where i.id = ${id}::uuid and i.state = any(${[...from]}::text[])
      returning ${COLUMNS}
    )
    select changed.*, pg_notify(campus_channel(${IMPORTS_CHANNEL}), changed.id::text)::text as announced
    from changed`);
  return rows[0] && toImport(rows[0]);
}

const jsonSet = (column: string) => (value: unknown) =>
  sql`${sql.raw(column)} = ${value === null ? null : json(value)}::jsonb`;
const instantSet = (column: string) => (value: unknown) =>
  sql`${sql.raw(column)} = ${value === null ? sql`null` : sql`now()`}`;

const COLUMNS_OF_CHANGES: Readonly<Record<keyof ImportChange, (value: unknown) => Sql>> = {
  state: (value) => sql`state = ${String(value)}`,
  inspection: jsonSet('inspection'),
  mapping: jsonSet('mapping'),
  options: jsonSet('options'),
  position: (value) => sql`position = ${Number(value)}::bigint`,
  counts: jsonSet('counts'),
  rowCount: (value) => sql`row_count = ${Number(value)}::bigint`,
  trial: jsonSet('trial'),
  changes: (value) => sql`changes = ${Number(value)}::int`,
  undone: (value) => sql`undone = ${[...(value as readonly number[])]}::int[]`,
  triggers: jsonSet('triggers'),
  isStopped: (value) => sql`is_stopped = ${value === true}`,
  principal: jsonSet('principal'),
  fault: jsonSet('fault'),
  startedAt: instantSet('started_at'),
  endedAt: instantSet('ended_at'),
};

export async function findImport(db: Queryable, id: string): Promise<StoredImport | undefined> {
  const [row] = await db.query<ImportRow>(sql`select ${COLUMNS} from imports i where i.id = ${id}::uuid`);
  return row && toImport(row);
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
  const page = compileKeyset(request, {
    keys: [sql`i.id`],
    direction: 'descending',
    toValues: (id) => [sql`${id}::uuid`],
  });
  const conditions = [
    sql`i.domain = ${domainId}`,
    sql`i.collection <> all(${[...except]}::text[])`,
    ...(createdBy === undefined ? [] : [sql`i.created_by = ${createdBy}`]),
    ...(state === undefined ? [] : [sql`i.state = ${state}`]),
    page.condition,
  ];
  const rows = await db.query<ImportRow>(sql`
    select ${COLUMNS}
    from imports i
    where ${sql.join(conditions, ' and ')}
    ${page.tail}`);
  return toKeysetPage(rows.map(toImport), request);
}

const COLUMNS = sql`i.id, i.domain as "domainId", i.collection, i.state, i.name, i.file_id as "fileId",
  i.owns_file as "ownsFile", i.source::text as source, i.inspection::text as inspection,
  i.mapping::text as mapping, i.options::text as options, i.position, i.counts::text as counts,
  i.row_count as "rowCount", i.trial::text as trial, i.changes, i.undone, i.triggers::text as triggers,
  i.fault::text as fault, i.principal::text as principal, i.created_by as "createdBy",
  i.is_stopped as "isStopped", i.created_at as "createdAt", i.updated_at as "updatedAt",
  i.started_at as "startedAt", i.ended_at as "endedAt"`;

/** The columns of JSON are read as text, so that long numbers keep their digits. */
type JsonColumn =
  | 'source'
  | 'inspection'
  | 'mapping'
  | 'options'
  | 'counts'
  | 'trial'
  | 'triggers'
  | 'fault'
  | 'principal';
type ImportRow = Omit<RowOf<StoredImport>, JsonColumn> & Readonly<Record<JsonColumn, string | null>>;

function toImport(row: ImportRow): StoredImport {
  const { source, inspection, mapping, options, counts, trial, triggers, fault, principal, ...others } = row;
  return {
    ...fromRow<Omit<StoredImport, JsonColumn>>(others),
    source: parsed<SourceOptions>(source) ?? {},
    inspection: parsed<ImportInspection>(inspection),
    mapping: toImportMapping(mapping === null ? undefined : parsePlainJson(mapping)),
    options: parsed<ImportOptions>(options) ?? DEFAULT_OPTIONS,
    counts: { ...NO_COUNTS, ...parsed<ImportCounts>(counts) },
    trial: parsed<ImportTrial>(trial),
    triggers: parsed<NonNullable<StoredImport['triggers']>>(triggers),
    fault: parsed<JsonObject>(fault),
    principal: parsed<ImportPrincipal>(principal) as ImportPrincipal,
  };
}

export const DEFAULT_OPTIONS: ImportOptions = { mode: 'atomic', by: '', missing: 'keep', triggers: [] };

/** Parses JSON that this service has written itself. */
function parsed<T>(text: string | null): T | undefined {
  return text === null ? undefined : ((parsePlainJson(text) ?? undefined) as T | undefined);
}

function json(value: unknown): string | null {
  return value === undefined ? null : printExactJson(value as JsonValue);
}

/** Identifies what a dry run was made with: after a change of the mapping, it must be repeated. */
export function fingerprintOf({ mapping, options }: Pick<StoredImport, 'mapping' | 'options'>): string {
  const tried = [mapping ?? null, options.by, options.missing] as unknown as JsonValue;
  return createHash('sha256').update(printExactJson(tried)).digest('hex').slice(0, 32);
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

/** In how many records each field changes. */
export function addFields(
  fields: Readonly<Record<string, number>>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Readonly<Record<string, number>> {
  return withNames(
    fields,
    updated.flatMap((one) => one.fields),
  );
}

/** In how many records each field loses a value that it has. */
export function addOverwritten(
  fields: Readonly<Record<string, number>>,
  { updated }: Pick<StagedOutcome, 'updated'>,
): Readonly<Record<string, number>> {
  const lost = updated.flatMap(({ changes = [] }) =>
    changes.flatMap(({ field, before }) => (isNothing(before) ? [] : [field])),
  );
  return withNames(fields, lost);
}

function isNothing(value: StagedFieldChange['before']): boolean {
  return value === undefined || value === null || value === '';
}

function withNames(
  fields: Readonly<Record<string, number>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const counts = new Map(Object.entries(fields));
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
}
