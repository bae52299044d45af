/** The changes of a collection since an instant, including removals: statements over the alias `r`. */
import { invalidAt } from '../../base/errors.js';
import { instantFrom } from '../../base/model/calendar.js';
import type { Database } from '../database/database.js';
import {
  compileObject,
  joinsOf,
  type Printing,
  startPrinting,
  startRecordItem,
  valueColumns,
} from '../sql/compile-shape.js';
import type { Member } from '../sql/shape.js';
import { type Sql, sql } from '../sql.js';

const DAY_MS = 86_400_000;
/** The clocks of gateways differ, and a record is stamped with the time its request began. */
const MARGIN_MS = 60_000;

/**
 * Parses the instant in `parameter`; a day is one in the school's time zone.
 *
 * @throws INVALID_VALUE for a malformed instant, or one before the remembered removals
 */
export function parseSince(
  text: string,
  limits: { readonly parameter: string; readonly timeZone: string; readonly keepRemovedDays: number },
): string {
  const { parameter, timeZone, keepRemovedDays } = limits;
  const since = instantFrom(text, timeZone);
  const expected = 'an instant such as 2026-04-01T09:30:00+05:30, or a day YYYY-MM-DD';
  const wrong = (detail: string) => invalidAt(detail, { parameter, expected, sent: text });
  if (since === undefined) throw wrong(`${parameter} is ${JSON.stringify(text)}; expected ${expected}.`);
  if (Date.parse(since) >= Date.now() - keepRemovedDays * DAY_MS) return since;
  throw wrong(
    `${parameter} is more than ${keepRemovedDays} days ago, and removed records are not remembered ` +
      `longer (KEEP_REMOVED_DAYS); export all records, without ${parameter}.`,
  );
}

/**
 * The instant from which the next export misses nothing. A write is stamped before it commits, so this is the
 * start of the oldest running write. Changes exported twice for that reason are identical.
 */
export async function nextSince(database: Pick<Database, 'query'>): Promise<string> {
  const [row] = await database.query<{ oldest: Date }>(sql`
    select least(now(), min(xact_start)) as oldest
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'`);
  const oldest = row?.oldest ?? new Date();
  return new Date(oldest.getTime() - MARGIN_MS).toISOString();
}

/** A removal counts as a change, and carries the same timestamp. */
export function changedSince(records: Sql, since: string): Sql {
  return sql`${records} and r.updated_at >= ${since}::timestamptz`;
}

/**
 * No field of a record begins with `$`, so a tombstone cannot be mistaken for a record. `record` is JSON
 * text.
 */
export function selectChanges(record: Sql, where: Sql): Sql {
  return sql`
select case when r.deleted_at is null then ${record} else jsonb_build_object(
    '_id', r.id,
    '$removed', to_char(r.deleted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  )::text end as json
from records r
where ${where}
order by r.id`;
}

export function selectCount(where: Sql): Sql {
  return sql`select count(*)::int as found from records r where ${where}`;
}

/** Reads changed records as the caller may see them now: one statement per batch of changes. */
export interface ChangedRecord {
  readonly id: string;
  readonly isRemoved: boolean;
  /** The JSON text, for each selection. */
  readonly texts: readonly string[];
}

/** Selects `ChangedRow`s: the records, including removed ones, that satisfy the condition over `r`. */
export function compileChangedRecords(
  selections: readonly (readonly Member[])[],
  options: {
    readonly ids: readonly string[];
    readonly where: Sql;
    readonly printing: Omit<Printing, 'aliasCount'>;
  },
): Sql {
  const item = startRecordItem();
  const printing = startPrinting(options.printing);
  const texts = selections.map((members) => sql`(${compileObject(members, item, printing)})::text`);
  const printed = texts.length === 0 ? sql.empty : sql.join(texts);
  return sql`
select r.id, r.is_removed as "isRemoved", array[${printed}]::text[] as texts
from (
  select r.id, r.version, r.created_at, r.updated_at, r.data${valueColumns(item)},
    r.deleted_at is not null as is_removed
  from records r
  where ${options.where} and r.id = any(${[...options.ids]}::text[])
  offset 0
) r ${joinsOf(item)}`;
}
