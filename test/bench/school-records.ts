/**
 * The records that are measured, made by SQL in seconds: every run finds the same ones, in every database.
 *
 * 5,000 students, 300,000 dues, 60,600 receipts, 10,000 results, 300 members of staff with 60,000 attendance
 * records, 5,000 leave requests, 200,000 messages; how many marks the students have, the caller says.
 */
import pg from 'pg';
import type { Domain } from '../../src/base/model/scope.js';
import { pauseIndexes } from '../../src/school/demo/load.js';

export const SCHOOL: Domain = { id: 'bench', name: 'Bench', parentId: undefined, timeZone: 'Asia/Kolkata' };

/** The first so many students have a mark on each of so many school days. */
export interface MarkedAttendance {
  readonly students: number;
  readonly days: number;
}

interface SeedStatement {
  readonly collection: string;
  readonly sql: string;
}

/**
 * Fills the named collections, or all, once a database; a collection that has records is left as it is.
 * Indexes are built from the filled tables.
 */
export async function seedRecords(
  url: string,
  attendance: MarkedAttendance,
  collections?: readonly string[],
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ collection: string }>(
      'select distinct collection from records where domain = $1',
      [SCHOOL.id],
    );
    const filled = new Set(rows.map(({ collection }) => collection));
    const missing = seedStatements(attendance).filter(
      ({ collection }) => !filled.has(collection) && (collections?.includes(collection) ?? true),
    );
    if (missing.length === 0) return;
    process.stderr.write(
      `bench: seeding ${[...new Set(missing.map(({ collection }) => collection))].join(', ')}\n`,
    );
    await client.query('begin');
    const buildIndexes = await pauseIndexes(
      client,
      missing.map(({ collection }) => collection),
    );
    for (const { sql } of missing) await client.query(sql);
    await buildIndexes();
    await client.query('commit');
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

function insert(collection: string, select: string): SeedStatement {
  return {
    collection,
    sql:
      `insert into records (domain, collection, id, data, keys) select '${SCHOOL.id}', ` +
      `'${collection}', ${select}`,
  };
}

const FIRST_NAMES = `(array['Aarav', 'Aditi', 'Akshay', 'Ananya', 'Arjun', 'Bhavna', 'Chetan', 'Deepika', 'Divya', 'Farhan', 'Gauri',
  'Harsh', 'Ishaan', 'Jyoti', 'Kabir', 'Kavya', 'Lakshmi', 'Manish', 'Meera', 'Mohit', 'Nandini', 'Nikhil', 'Pooja', 'Pranav', 'Priya',
  'Rahul', 'Ritika', 'Rohan', 'Saanvi', 'Sameer', 'Sneha', 'Tanvi', 'Uday', 'Varun', 'Vidya', 'Vikram', 'Yash', 'Zoya'])`;
const LAST_NAMES = `(array['Agarwal', 'Banerjee', 'Bhat', 'Chauhan', 'Das', 'Deshmukh', 'Fernandes', 'Ghosh', 'Gupta', 'Iyer', 'Jain',
  'Joshi', 'Kapoor', 'Khan', 'Kulkarni', 'Mehta', 'Menon', 'Mishra', 'Nair', 'Patel', 'Pillai', 'Rao', 'Reddy', 'Saxena', 'Sharma',
  'Shetty', 'Singh', 'Sinha', 'Thakur', 'Tiwari', 'Varma', 'Verma', 'Yadav'])`;
/** Of each `i`; 38 and 33 have no common divisor, so the first 1,254 students have names of their own. */
const NAME = `${FIRST_NAMES}[i % 38 + 1] || ' ' || ${LAST_NAMES}[i % 33 + 1]`;
const STUDENT = `jsonb_build_object('value', 'stu-' || lpad(i::text, 5, '0'), 'label', ${NAME})`;
const PLACE = `'class', (i % 12 + 1)::text, 'section', chr(65 + (i / 12) % 8)`;
/** Of a fee head `h` and a student `i`: every class pays another. */
const FEE = `(1000 * h + 50 + 10 * (i % 12))`;
const HEADS = `(array['Tuition', 'Transport', 'Computer', 'Sports', 'Library'])`;
const MONTH = `to_char(date '2026-04-01' + make_interval(months => m), 'YYYY-MM')`;
/** A fifth of the students have paid a part alone since October. */
const PAID = `case when i % 5 = 0 and m >= 6 then 500 * h else ${FEE} end`;

/** Of each `i`, spread over the year. */
const DAY = `to_char(date '2026-04-01' + i % 360, 'YYYY-MM-DD')`;
/** The first day of the first session. */
export const FIRST_DAY = '2026-04-01';
/** So many school days, Sundays left out. */
const schoolDays = (count: number) =>
  `(select row_number() over (order by day) as d, day from generate_series(date '${FIRST_DAY}', date ` +
  `'${FIRST_DAY}' + ${count} * 2, interval '1 day') as day where extract(isodow from day) < 7 order ` +
  `by day limit ${count}) as days`;

/** In the order of the references between them. */
function seedStatements(attendance: MarkedAttendance): readonly SeedStatement[] {
  return [
    insert(
      'class',
      `'class-' || c, jsonb_build_object('name', c::text, 'category', case when c < 6 then 'Primary' else 'Secondary' end, 'order', c, 'created_on', '2026-04-01T00:00:00.000Z',
    'sections', (select jsonb_agg(jsonb_build_object('name', chr(64 + s), 'capacity', 60)) from generate_series(1, 8) as s)), null from generate_series(1, 12) as c`,
    ),
    insert(
      'fee_head',
      `'head-' || h, jsonb_build_object('name', ${HEADS}[h], 'order', h, 'created_on', ` +
        `'2026-04-01T00:00:00.000Z'), null from generate_series(1, 5) as h`,
    ),
    insert(
      'registration',
      `'stu-' || lpad(i::text, 5, '0'), jsonb_build_object('sequence', 'A-' || i, 'name', ${NAME}, ${PLACE}, 'roll_no', i / 96 + 1,
    'gender', case i % 2 when 0 then 'male' else 'female' end, 'dob', '2015-09-14', 'father_name', 'Rajesh Sharma', 'mother_name', 'Sunita Sharma', 'guardian_phone', '+9198' || lpad(i::text, 8, '0'),
    'address', '14, Gandhi Road, Nagpur, Maharashtra 440010', 'session', '2026-27', 'admitted_on', '2021-04-01', 'status', 'active', 'created_on', '2021-04-01T00:00:00.000Z'), null
    from generate_series(1, 5000) as i`,
    ),
    insert(
      'fee_due',
      `'due-' || i || '-' || m || '-' || h, jsonb_build_object('student', ${STUDENT}, ${PLACE}, 'session', '2026-27', 'month', ${MONTH}, 'fee_head', ${HEADS}[h],
    'amount', ${FEE}, 'due_date', ${MONTH} || '-10', 'created_on', '2026-04-01T00:00:00.000Z'), null
    from generate_series(0, 11) as m, generate_series(1, 5000) as i, generate_series(1, 5) as h`,
    ),
    // As they come, day by day.
    insert(
      'fee_receipt',
      `'rec-' || i || '-' || m, jsonb_build_object('receipt_no', 'R-' || (m * 5000 + i), 'date', ${MONTH} || to_char(i % 25 + 1, 'FM"-"00') || 'T06:00:00.000Z', 'student', ${STUDENT}, ${PLACE},
    'session', '2026-27', 'payment_type', (array['cash', 'cheque', 'card', 'neft'])[i % 4 + 1],
    'lines', (select jsonb_agg(jsonb_build_object('fee_head', ${HEADS}[h], 'month', ${MONTH}, 'amount', ${PAID})) from generate_series(1, 5) as h),
    'total', (select sum(${PAID}) from generate_series(1, 5) as h), 'collected_by', jsonb_build_object('value', 'usr-accountant', 'label', 'Meena Iyer'), 'status', 'active',
    'created_on', '2026-04-01T00:00:00.000Z'), null
    from generate_series(0, 11) as m, generate_series(1, 5000) as i order by m, i % 25, i`,
    ),
    insert(
      'fee_concession',
      `'con-' || i, jsonb_build_object('name', ${STUDENT}, 'fee_head', 'Tuition', 'kind', 'percent', 'value', 25, 'session', '2026-27', 'from_month', '2026-04', 'to_month', '2027-03',
    'type', 'sibling', 'created_on', '2026-04-01T00:00:00.000Z'), null from generate_series(1, 5000, 10) as i`,
    ),
    insert(
      'attendance',
      `'att-' || d || '-' || i, jsonb_build_object('created', to_char(day, 'YYYY-MM-DD') || 'T03:05:00.000Z', 'student', ${STUDENT}, ${PLACE},
    'status', case when (i + d) % 13 = 0 then 'absent' when (i + d) % 37 = 0 then 'late' else 'present' end, 'marked_by', jsonb_build_object('value', 'usr-teacher', 'label', 'Kavita Joshi'),
    'created_on', to_char(day, 'YYYY-MM-DD') || 'T03:05:00.000Z'), jsonb_build_object('student_day', '["stu-' || lpad(i::text, 5, '0') || '","' || to_char(day, 'YYYY-MM-DD') || '"]')
    from ${schoolDays(attendance.days)}, generate_series(1, ${attendance.students}) as i`,
    ),
    insert(
      'result',
      `'res-' || term || '-' || i, jsonb_build_object('session', '2026-27', 'term', term, 'admission_no', 'A-' || i, 'student', ${STUDENT}, ${PLACE}, 'published', true,
    'subjects', (select jsonb_agg(jsonb_build_object('subject', 'Subject ' || s, 'components', jsonb_build_array(
      jsonb_build_object('name', 'Written', 'max', 80, 'weight', 80, 'marks', 20 + (i * s) % 60, 'state', 'scored'),
      jsonb_build_object('name', 'Oral', 'max', 20, 'weight', 20, 'marks', (i + s) % 21, 'state', 'scored')))) from generate_series(1, 6) as s),
    'created_on', '2026-10-01T00:00:00.000Z'), null
    from unnest(array['halfyear', 'finalyear']) as term, generate_series(1, 5000) as i`,
    ),
    // Entered twice and taken back on the next day.
    insert(
      'fee_receipt',
      `'twice-' || i, jsonb_build_object('receipt_no', 'T-' || i, 'date', ${DAY} || 'T06:00:00.000Z', 'student', ${STUDENT}, ${PLACE}, 'session', '2026-27', 'payment_type', 'cash',
    'lines', jsonb_build_array(jsonb_build_object('fee_head', 'Tuition', 'month', left(${DAY}, 7), 'amount', 1050 + 10 * (i % 12))), 'total', 1050 + 10 * (i % 12),
    'collected_by', jsonb_build_object('value', 'usr-accountant', 'label', 'Meena Iyer'), 'status', 'rolled_back', 'rolled_back_on', to_char(date '2026-04-02' + i % 360, 'YYYY-MM-DD') || 'T06:00:00.000Z',
    'rolled_back_by', jsonb_build_object('value', 'usr-accountant', 'label', 'Meena Iyer'), 'rollback_reason', 'Entered twice', 'rollback_type', 'duplicate', 'created_on', '2026-04-01T00:00:00.000Z'), null
    from generate_series(1, 600) as i`,
    ),
    insert(
      'pltf_user',
      `'usr-' || lpad(i::text, 5, '0'), jsonb_build_object('user_name', 'staff' || i, 'name', 'Staff ' || i, 'active', true, 'roles', jsonb_build_array(case i % 5 when 0 then 'clerk' else 'teacher' end),
    'employee_code', 'E-' || i, 'department', (array['Science', 'Languages', 'Mathematics', 'Sports'])[i % 4 + 1], 'designation', 'Teacher', 'joined_on', '2020-04-01', 'created_on', '2020-04-01T00:00:00.000Z'), null
    from generate_series(1, 300) as i`,
    ),
    insert(
      'teacher_attendance',
      `'tea-' || d || '-' || i, jsonb_build_object('created_on', to_char(day, 'YYYY-MM-DD') || 'T02:30:00.000Z', 'name', jsonb_build_object('value', 'usr-' || lpad(i::text, 5, '0'), 'label', 'Staff ' || i),
    'status', case when (i + d) % 19 = 0 then 'absent' else 'present' end, 'in_time', to_char(day, 'YYYY-MM-DD') || 'T02:30:00.000Z', 'out_time', to_char(day, 'YYYY-MM-DD') || 'T09:30:00.000Z'),
    jsonb_build_object('name_day', '["usr-' || lpad(i::text, 5, '0') || '","' || to_char(day, 'YYYY-MM-DD') || '"]') from ${schoolDays(200)}, generate_series(1, 300) as i`,
    ),
    insert(
      'leave_request',
      `'lea-' || i, jsonb_build_object('created_on', ${DAY} || 'T04:00:00.000Z', 'name', ${STUDENT}, 'kind', 'student', 'from', ${DAY}, 'to', ${DAY}, 'leave_type', 'sick', 'reason', 'Fever',
    'status', (array['pending', 'approved', 'rejected'])[i % 3 + 1]), null from generate_series(1, 5000) as i`,
    ),
    // Some 550 a day, one in ten twice.
    insert(
      'sms_log',
      `'sms-' || i, jsonb_build_object('created_on', ${DAY} || 'T05:00:00.000Z', 'to', '+9198' || lpad(((i - i % 10 / 9) % 5000)::text, 8, '0'), 'text', 'Dear parent, the fee of ' || left(${DAY}, 7) || ' is due.',
    'category', 'fee', 'segments', 1, 'status', case i % 20 when 0 then 'failed' else 'delivered' end), null from generate_series(1, 200000) as i`,
    ),
  ];
}
