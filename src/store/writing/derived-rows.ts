/**
 * Maintains the rows derived from records (`fee_months`, `attendance_months`, `collected_receipts`) in the
 * statement that writes the records, for all its rows at once. This file defines which rows are derived from
 * which collection; every statement that writes records includes its part.
 *
 * The rows stay exact under concurrency. A row is written by `on conflict do update`, which waits for a
 * concurrent writer and adds to its result, even to a row that is not in the statement's snapshot. For the
 * same reason no row is deleted here, because it might be invisible in the snapshot: a row that nothing is
 * derived into any more remains empty, and reports ignore it, until `sweepDerivedRows`. Rows are written in
 * the order of their keys, so that statements do not deadlock.
 *
 * The tables also have triggers, for writers that do not use this code (the previous version, during an
 * upgrade). The setting made by `KEPT` informs the triggers that nothing is left to do.
 *
 * @see prisma/migrations/0005_fee_months/migration.sql
 * @see prisma/migrations/0013_attendance_months/migration.sql
 * @see prisma/migrations/0020_collected_receipts/migration.sql
 * @see prisma/migrations/0035_derived_by_statement/migration.sql
 */

import type { Queryable } from '../database/queryable.js';
import { type Sql, sql } from '../sql.js';

/** The change of live records, as queries with `id`, `data` and `keys`. */
export interface DerivedChange {
  /** The records before; absent if they did not exist. */
  readonly was?: Sql;
  /** The records after; absent if they no longer exist. */
  readonly is?: Sql;
}

/** The parts to include in a statement that writes records. */
export interface DerivedRows {
  /** The first part of its `with`. */
  readonly first: Sql;
  /** Joined to the tables from which the statement takes what it writes. */
  readonly join: Sql;
  /** The last part of its `with`. */
  readonly last: Sql;
}

const NOTHING: DerivedRows = { first: sql.empty, join: sql.empty, last: sql.empty };

/** The rows derived from the records of a collection, in the order in which they are written. */
const DERIVED: Readonly<Record<string, readonly ((domain: string, change: DerivedChange) => Sql)[]>> = {
  attendance: [attendanceMonths],
  fee_due: [(domain, change) => feeMonths(domain, 'fee_due', change)],
  fee_receipt: [(domain, change) => feeMonths(domain, 'fee_receipt', change), collectedReceipts],
};

/** The parts for a statement that writes records of a collection; empty for most collections. */
export function derivedRows(domain: string, collection: string, change: DerivedChange): DerivedRows {
  const derived = Object.hasOwn(DERIVED, collection) ? DERIVED[collection] : undefined;
  if (derived === undefined) return NOTHING;
  const parts = derived.map(
    (rows) => sql`,
${rows(domain, change)}`,
  );
  return { first: KEPT, join: sql`cross join kept`, last: sql.join(parts, '') };
}

/** Evaluated before the first record is written, because the statement joins its rows with it. */
const KEPT = sql`kept as materialized (
  select set_config('campus.months', 'kept by statement', true)
),
`;

/**
 * The days of each status. A removal is passed to the existing row as a day that is both `present` and
 * `absent`, which no real day is: at a conflict, only the columns of the new row are available.
 */
function attendanceMonths(domain: string, { was, is }: DerivedChange): Sql {
  const entries = [
    ...(is === undefined ? [] : [attendanceEntries(domain, is, sql`false`)]),
    ...(was === undefined ? [] : [attendanceEntries(domain, was, sql`true`)]),
  ];
  if (was === undefined) {
    const columns = STATUSES.map((status) => sql.raw(`bit_or(e.${status})`));
    const merged = STATUSES.map((status) => sql.raw(`${status} = m.${status} | excluded.${status}`));
    return sql`attendance_kept as (
  insert into attendance_months as m
  select e.domain, e.student, e.month, e.class, e.section, ${sql.join(columns)}
  from (${sql.join(entries, ' union all ')}) as e
  group by e.domain, e.student, e.month, e.class, e.section
  order by e.domain, e.student, e.month, e.class, e.section
  on conflict (domain, student, month, class, section) do update
  set ${sql.join(merged)}
)`;
  }
  const now = STATUSES.map((status) => bitsOf(status, 'not e.is_former'));
  const then = STATUSES.map((status) => bitsOf(status, 'e.is_former'));
  const removed = sql.raw('(e.were & ~e.are)');
  const arriving = STATUSES.map((status) =>
    status === 'present' || status === 'absent'
      ? sql`e.${sql.raw(status)} | ${removed}`
      : sql.raw(`e.${status}`),
  );
  const touched = STATUSES.map((status) => `excluded.${status}`).join(' | ');
  const entered = (status: string) => `excluded.${status} & ~(excluded.present & excluded.absent)`;
  const merged = STATUSES.map((status) =>
    sql.raw(`${status} = (m.${status} & ~(${touched})) | (${entered(status)})`),
  );
  return sql`attendance_kept as (
  insert into attendance_months as m
  select e.domain, e.student, e.month, e.class, e.section, ${sql.join(arriving)}
  from (
    select
      e.domain, e.student, e.month, e.class, e.section, ${sql.join(now.map(named(STATUSES)))},
      ${bitsOfAll('not e.is_former')} as are, ${bitsOfAll('e.is_former')} as were
    from (${sql.join(entries, ' union all ')}) as e
    group by e.domain, e.student, e.month, e.class, e.section
    having (${sql.join(now)}) is distinct from (${sql.join(then)})
  ) as e
  order by e.domain, e.student, e.month, e.class, e.section
  on conflict (domain, student, month, class, section) do update
  set ${sql.join(merged)}
)`;
}

const STATUSES = ['present', 'absent', 'late', 'half_day', 'leave', 'other'] as const;

function attendanceEntries(domain: string, records: Sql, isFormer: Sql): Sql {
  return sql`
    select d.*, ${isFormer} as is_former
    from (${records}) as n
    cross join lateral attendance_month_of(${domain}, n.data, n.keys, null) as d`;
}

function bitsOf(status: string, condition: string): Sql {
  return sql.raw(`coalesce(bit_or(e.${status}) filter (where ${condition}), 0)`);
}

function bitsOfAll(condition: string): Sql {
  const all = STATUSES.map((status) => `e.${status}`).join(' | ');
  return sql.raw(`coalesce(bit_or(${all}) filter (where ${condition}), 0)`);
}

function named(names: readonly string[]) {
  return (value: Sql, index: number) => sql`${value} as ${sql.raw(names[index] ?? '')}`;
}

/** The entries of each month. A removal is passed to the existing row as a null entry. */
function feeMonths(domain: string, collection: 'fee_due' | 'fee_receipt', change: DerivedChange): Sql {
  const [own, other] = collection === 'fee_due' ? ['dues', 'payments'] : ['payments', 'dues'];
  const after =
    change.was === undefined
      ? `m.${own} || excluded.${own}`
      : `(
        select coalesce(jsonb_object_agg(key, value) filter (where value <> 'null'), '{}')
        from jsonb_each(m.${own} || excluded.${own})
      )`;
  return sql`fees_kept as (
  insert into fee_months as m
  select ${domain}::text, e.student, e.month, s.*, e.dues, e.payments
  from (
    select
      e.student, e.month, jsonb_object_agg(e.id, e.entry) as ${sql.raw(own ?? '')},
      '{}'::jsonb as ${sql.raw(other ?? '')},
      coalesce(jsonb_object_agg(e.id, e.entry) filter (where e.entry is not null), '{}') as entries
    from (${changedEntries(collection, change)}) as e
    group by e.student, e.month
  ) as e
  cross join lateral fee_month_state(${
    collection === 'fee_due' ? sql.raw(`e.entries, '{}'`) : sql.raw(`'{}', e.entries`)
  }) as s
  order by e.student, e.month
  on conflict (domain, student, month) do update
  set (
    due, paid, fine, balance, credit, balance_from, due_from, due_to, cancelled_to, paid_from, paid_to,
    is_regular, heads, dues, payments
  ) = (
    select s.*, after.dues, after.payments
    from (
      select ${sql.raw(after)} as ${sql.raw(own ?? '')}, m.${sql.raw(other ?? '')}
      offset 0
    ) as after
    cross join lateral fee_month_state(after.dues, after.payments) as s
  )
)`;
}

/** The entries that changed; null for those that were removed. */
function changedEntries(collection: string, { was, is }: DerivedChange): Sql {
  const now = is === undefined ? undefined : feeEntries(collection, is);
  const then = was === undefined ? undefined : feeEntries(collection, was);
  if (now === undefined)
    return sql`select o.student, o.month, o.id, null::jsonb as entry from (${then}) as o`;
  if (then === undefined) return now;
  return sql`
      select student, month, id, n.entry
      from (${now}) as n
      full join (${then}) as o using (student, month, id)
      where n.entry is distinct from o.entry`;
}

function feeEntries(collection: string, records: Sql): Sql {
  return sql`
      select e.student, e.month, n.id, e.entry
      from (${records}) as n
      cross join lateral fee_entries_of(${sql.raw(`'${collection}'`)}, n.id, n.data, null) as e`;
}

/** One row per receipt; empty if the receipt no longer exists. */
function collectedReceipts(domain: string, { was, is }: DerivedChange): Sql {
  const rows = [
    ...(is === undefined
      ? []
      : [
          sql`
    select r.*
    from (${is}) as n
    cross join lateral collected_receipt_of(${domain}, n.id, n.data) as r`,
        ]),
    ...(was === undefined
      ? []
      : [
          sql`
    select
      ${domain}::text, n.id, null, false, false, null, null, null, null::bigint, null, 'unknown', null,
      null, null::numeric, '[]', null
    from (${was}) as n
    ${is === undefined ? sql.empty : sql`where n.id not in (select id from (${is}) as r)`}`,
        ]),
  ];
  const assignments = RECEIPT_COLUMNS.map((column) => sql.raw(`${column} = excluded.${column}`));
  return sql`receipts_kept as (
  insert into collected_receipts as c
  select r.*
  from (${sql.join(rows, ' union all ')}) as r
  order by 2
  on conflict (domain, id) do update
  set ${sql.join(assignments)}
)`;
}

const RECEIPT_COLUMNS = [
  'at',
  'is_active',
  'is_rolled_back',
  'rolled_back_on',
  'receipt_no',
  'series',
  'number',
  'ordered_no',
  'payment_type',
  'collector_id',
  'collector',
  'total',
  'lines',
  'fault',
];

/** The condition for an empty row, by table. A valid receipt has a total, an invalid one has a fault. */
const EMPTY_ROWS: readonly (readonly [table: string, condition: string])[] = [
  ['fee_months', `dues = '{}' and payments = '{}'`],
  ['attendance_months', `${STATUSES.join(' | ')} = 0`],
  ['collected_receipts', 'total is null and fault is null'],
];

/** Deletes the empty rows, of one domain or of all. */
export async function sweepDerivedRows(queryable: Queryable, domain: string | 'all domains'): Promise<void> {
  for (const [table, condition] of EMPTY_ROWS) {
    const ofDomain = domain === 'all domains' ? sql.empty : sql`and domain = ${domain}`;
    await queryable.query(sql`
      delete from ${sql.raw(table)} where ${sql.raw(condition)} ${ofDomain}`);
  }
}
