/** The school that is measured: records made by SQL, a domain, an admin and a key to ask with. */
import pg from 'pg';
import { operatorScope } from '../../src/cli/command-line.js';
import type { Services } from '../../src/gateway/compose/services.js';
import { fillPlainTables } from './plain-tables.js';
import { type MarkedAttendance, SCHOOL, seedRecords } from './school-records.js';
import { withBenchServices } from './with-bench-services.js';

const COLLECTIONS = ['class', 'fee_head', 'registration', 'fee_receipt', 'attendance'];
export const ADMIN = 'usr-admin';

/** The first day of the marks that requests create: long after the last that is seeded. */
export const FIRST_CREATED_DAY = '2050-01-01';

/**
 * Fills the database at `url` once; a later run finds it as it was, without the keys of earlier runs.
 * Gives so many API keys of the admin.
 */
export async function prepareSchool(
  url: string,
  attendance: MarkedAttendance,
  keys = 1,
): Promise<readonly string[]> {
  return await withBenchServices(url, async (services) => {
    if (services.domains.top() === undefined) {
      await services.domains.createTop({ id: SCHOOL.id, name: SCHOOL.name });
      await addAdmin(services);
    }
    await seedRecords(url, attendance, COLLECTIONS);
    await fillPlainTables(url);
    const scope = operatorScope(services, undefined);
    for (const { id } of await services.apiKeys.list(scope)) await services.apiKeys.revoke(scope, id);
    const request = {
      name: 'bench',
      userId: ADMIN,
      scopes: {
        collections: { '*': ['read', 'create', 'update', 'delete'] },
        reports: ['*'],
        scripts: [],
      },
    };
    const made: string[] = [];
    while (made.length < keys) made.push((await services.apiKeys.create(scope, request)).key);
    return made;
  });
}

/** The user whose keys ask. */
export async function addAdmin(services: Services): Promise<void> {
  await services.users.add(operatorScope(services, undefined), {
    id: ADMIN,
    userName: 'admin',
    name: 'Kavita Joshi',
    roles: ['admin'],
    password: 'a password nobody uses',
  });
}

/**
 * How many records requests created since they were taken away last, in the records and in the plain tables.
 */
export async function countCreated(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select (
        (select count(*) from records
         where domain = $1 and collection = 'attendance' and data->'created' >= to_jsonb($2::text))
        + (select count(*) from plain.attendance where created >= $2::text::timestamptz)
      )::int as count`,
      [SCHOOL.id, FIRST_CREATED_DAY],
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

/**
 * Takes away what requests created, so that every round finds tables of the same size. Nothing is derived
 * meanwhile: the days are in months that the seeded records know nothing of, so their rows go with them.
 */
export async function removeCreated(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    const { rowCount } = await client.query(
      `delete from records where domain = $1 and collection = 'attendance' and data->'created' >= ` +
        'to_jsonb($2::text)',
      [SCHOOL.id, FIRST_CREATED_DAY],
    );
    await client.query('delete from attendance_months where domain = $1 and month >= left($2, 7)', [
      SCHOOL.id,
      FIRST_CREATED_DAY,
    ]);
    await client.query(`delete from audit_entries where collection = 'attendance'`);
    const { rowCount: plainCount } = await client.query('delete from plain.attendance where created >= $1', [
      FIRST_CREATED_DAY,
    ]);
    if (rowCount !== 0) await client.query('vacuum records_attendance, attendance_months, audit_entries');
    if (plainCount !== 0) await client.query('vacuum plain.attendance');
  } finally {
    await client.end();
  }
}
