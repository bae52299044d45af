/**
 * What somebody who needs these few answers and nothing else would make: a table a thing, a column a field,
 * in the schema `plain` of the measured database. The bare server and the peers work on them. They hold what
 * the records hold, with the same indexes where the gateway has one for the same use.
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
    if (!rows[0]?.made) {
      process.stderr.write('bench: copying the records to plain tables\n');
      await client.query('begin');
      for (const statement of TABLES) await client.query(statement);
      await client.query('commit');
      await client.query('vacuum analyze');
    }
    for (const statement of FUNCTIONS) await client.query(statement);
  } finally {
    await client.end();
  }
}

const TABLES = [
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
    student text not null, status text not null, fee_head text not null, month text not null,
    amount numeric not null, primary key (receipt, position)
  )`,
  `insert into plain.fee_receipt_line
   select
     id, position, (data->>'date')::timestamptz, data->'student'->>'value', data->>'status',
     line->>'fee_head', line->>'month', (line->>'amount')::numeric
   from records
   cross join lateral jsonb_array_elements(data->'lines') with ordinality as l(line, position)
   where collection = 'fee_receipt' order by data->>'date', id, position`,
  // What is collected is read from the index alone.
  `create index on plain.fee_receipt_line (date) include (fee_head, amount) where status = 'active'`,
  `create table plain.fee_due (
    id text primary key, student text not null references plain.registration, session text, month text not null,
    fee_head text not null, amount numeric not null, due_date date not null
  )`,
  `insert into plain.fee_due
   select
     id, data->'student'->>'value', data->>'session', data->>'month', data->>'fee_head',
     (data->>'amount')::numeric, (data->>'due_date')::date
   from records where collection = 'fee_due' order by id`,
  'create index on plain.fee_due (month)',
  `create table plain.fee_concession (
    id text primary key, student text not null references plain.registration, fee_head text not null,
    percent numeric not null, from_month text not null, to_month text not null
  )`,
  `insert into plain.fee_concession
   select
     id, data->'name'->>'value', data->>'fee_head', (data->>'value')::numeric, data->>'from_month',
     data->>'to_month'
   from records where collection = 'fee_concession' order by id`,
];

/** PostGraphile leaves sums and writes of many to functions of the database, which its users write. */
const FUNCTIONS = [
  `create or replace function plain.fee_collection("from" date, "to" date)
   returns table (day date, fee_head text, amount numeric) language sql stable as $$
     select (date at time zone 'Asia/Kolkata')::date, fee_head, sum(amount)
     from (
       select date, fee_head, sum(amount) as amount from plain.fee_receipt_line
       where status = 'active' and date >= ("from"::timestamp at time zone 'Asia/Kolkata')
         and date < (("to" + 1)::timestamp at time zone 'Asia/Kolkata')
       group by date, fee_head
     ) as lines
     group by 1, 2 order by 1, 2
   $$`,
  `create or replace function plain.create_marks(marks json) returns int language sql volatile as $$
     with created as (
       insert into plain.attendance (created, student, student_label, class, section, status, marked_by)
       select m.created, m.student, r.name, m.class, m.section, m.status, m.marked_by
       from json_to_recordset(marks)
         as m(created timestamptz, student text, class text, section text, status text, marked_by text)
       join plain.registration r on r.id = m.student
       returning 1
     )
     select count(*)::int from created
   $$`,
];
