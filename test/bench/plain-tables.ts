/**
 * What somebody who needs these few answers and nothing else would make: a table a thing, a column a field, in
 * the schema `plain` of the measured database. The bare server and the peers work on them. They hold what the
 * records hold, with the same indexes where the gateway has one for the same use.
 */
import pg from 'pg';

/** Once a database: tables that are there are left as they are. */
export async function fillPlainTables(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ made: boolean }>(
      `select to_regnamespace('plain') is not null as made`,
    );
    if (rows[0]?.made) return;
    process.stderr.write('bench: copying the records to plain tables\n');
    await client.query('begin');
    for (const statement of STATEMENTS) await client.query(statement);
    await client.query('commit');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

const STATEMENTS = [
  'create schema plain',
  `create table plain.registration (
    id text primary key, sequence text not null, name text not null, class text not null, section text not null,
    roll_no int, gender text, dob date, father_name text, mother_name text, guardian_phone text, address text,
    session text, admitted_on date, status text, created_on timestamptz
  )`,
  `insert into plain.registration
   select
     id, data->>'sequence', data->>'name', data->>'class', data->>'section', (data->>'roll_no')::int,
     data->>'gender', (data->>'dob')::date, data->>'father_name', data->>'mother_name', data->>'guardian_phone',
     data->>'address', data->>'session', (data->>'admitted_on')::date, data->>'status',
     (data->>'created_on')::timestamptz
   from records where collection = 'registration' order by id`,
  'create unique index on plain.registration (sequence)',
  'create index on plain.registration (class, section)',
  'create index on plain.registration using gin (name gin_trgm_ops)',
  `create table plain.attendance (
    id text primary key default gen_random_uuid()::text, created timestamptz not null default now(),
    student text not null references plain.registration, student_label text, class text not null,
    section text not null, status text not null, remark text, marked_by text, marked_by_label text,
    created_on timestamptz not null default now()
  )`,
  `insert into plain.attendance
   select
     id, (data->>'created')::timestamptz, data->'student'->>'value', data->'student'->>'label', data->>'class',
     data->>'section', data->>'status', data->>'remark', data->'marked_by'->>'value',
     data->'marked_by'->>'label', (data->>'created_on')::timestamptz
   from records where collection = 'attendance' order by id`,
  // The day of the school: once a student a day.
  `create unique index on plain.attendance (student, ((created at time zone 'Asia/Kolkata')::date))`,
  'create index on plain.attendance (created)',
  'create index on plain.attendance (class, created)',
  `create table plain.fee_receipt (
    id text primary key, receipt_no text not null, date timestamptz not null,
    student text not null references plain.registration, student_label text, class text, section text,
    session text, payment_type text, total numeric not null, collected_by text, collected_by_label text,
    status text not null, created_on timestamptz
  )`,
  `insert into plain.fee_receipt
   select
     id, data->>'receipt_no', (data->>'date')::timestamptz, data->'student'->>'value', data->'student'->>'label',
     data->>'class', data->>'section', data->>'session', data->>'payment_type', (data->>'total')::numeric,
     data->'collected_by'->>'value', data->'collected_by'->>'label', data->>'status',
     (data->>'created_on')::timestamptz
   from records where collection = 'fee_receipt' order by id`,
  'create unique index on plain.fee_receipt (receipt_no)',
  'create index on plain.fee_receipt (date)',
  'create index on plain.fee_receipt (student)',
  `create table plain.fee_receipt_line (
    receipt text not null references plain.fee_receipt, position int not null, date timestamptz not null,
    status text not null, fee_head text not null, month text not null, amount numeric not null,
    primary key (receipt, position)
  )`,
  `insert into plain.fee_receipt_line
   select
     id, position, (data->>'date')::timestamptz, data->>'status', line->>'fee_head', line->>'month',
     (line->>'amount')::numeric
   from records
   cross join lateral jsonb_array_elements(data->'lines') with ordinality as l(line, position)
   where collection = 'fee_receipt' order by data->>'date', id, position`,
  // What is collected is read from the index alone.
  `create index on plain.fee_receipt_line (date) include (fee_head, amount) where status = 'active'`,
];
