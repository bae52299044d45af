import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { JsonValue } from '../../../src/base/json/json.js';
import { type App, createApp } from '../../../src/gateway/compose/app.js';
import { openServices } from '../../../src/gateway/compose/services.js';
import { parseConfig } from '../../../src/gateway/config/config.js';
import { Random } from '../../../src/school/demo/random.js';
import { reports } from '../../../src/school/reports/registry.js';
import { LEFT_OUT_TABLES } from '../../../src/services/backup/kept-tables.js';
import { CHEAP } from '../../cheap-passwords.js';
import { useDemoGateway } from '../../contract/demo-gateway.js';
import { DEFAULT_SETTINGS } from '../../contract/gateway.js';
import { IS_FULL_LENGTH } from '../../full-length.js';
import { backUpTo, restoreFrom, useEmptyDatabases, useFolder } from './backups.js';

const QUERIES = IS_FULL_LENGTH ? 1_000 : 100;

let restored: { readonly app: App; readonly url: string; readonly token: string; readonly database: string };

// It stands before the others, which drop the database.
afterAll(async () => {
  await restored?.app.close();
});

const source = useDemoGateway({ students: 60 });
const databases = useEmptyDatabases();
const folder = useFolder();

beforeAll(async () => {
  const file = folder.file('school.campus');
  await backUpTo(file, { url: source.databaseUrl });
  const { url: database } = await databases.create();
  await restoreFrom(file, { url: database });
  const app = await createApp(parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: database }), {
    passwordCost: CHEAP,
  });
  const url = await app.listen();
  const login = await fetch(`${url}/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user_name: 'admin', password: 'demo-admin' }),
  });
  const { access_token: token } = (await login.json()) as { access_token: string };
  restored = { app, url, token, database };
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function askBoth(path: string): Promise<readonly [Answer, Answer]> {
  const answers = await Promise.all([
    source.fetch(path, { as: 'admin' }),
    fetch(restored.url + path, { headers: { authorization: `Bearer ${restored.token}` } }),
  ]);
  const [one, other] = await Promise.all(
    answers.map(async (answer) => ({ status: answer.status, body: withoutTimes(await answer.text()) })),
  );
  if (one === undefined || other === undefined) throw new Error('two were asked');
  return [one, other];
}

/** When an answer was made, and to which request, is nothing of the school. */
function withoutTimes(text: string): string {
  return text.replaceAll(/"(?:generatedAt|instance)":"[^"]*"/g, '');
}

/** Rows that each database or gateway has of its own: how far schedules were looked at, secrets, log-ins. */
const BESIDES = new Map([
  ['settings', " where name not in ('scriptScheduleLookedAt', 'channels')"],
  ['audit_entries', " where collection <> '$session'"],
]);

/** What says of every table of the database how many rows it has and what is in them. */
async function fingerprint(url: string): Promise<ReadonlyMap<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(
      `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attname) as columns
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = current_schema()::regnamespace
         and c.relkind in ('r', 'p')
         and not c.relispartition
         and c.relname <> all($1)
         and a.atttypid <> 'xid8'::regtype
       group by c.relname`,
      [[...LEFT_OUT_TABLES.keys()]],
    );
    const prints = new Map<string, string>();
    for (const { name, columns } of tables) {
      const { rows } = await client.query<{ print: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(line, E'\\n' order by line)), '') as print
         from (select row(${columns})::text as line from ${name}${BESIDES.get(name) ?? ''}) as lines`,
      );
      prints.set(name, rows[0]?.print ?? '');
    }
    return prints;
  } finally {
    await client.end();
  }
}

describe('a restored school', () => {
  it('has every row of the one it was made of', async () => {
    expect(await fingerprint(restored.database)).toEqual(await fingerprint(source.databaseUrl));
  });

  it.each(reports.map((report) => [report.name, report] as const))(
    'answers report=%s as the other does',
    async (name, report) => {
      const parameters = new URLSearchParams({ report: name });
      for (const [key, value] of Object.entries(report.example)) {
        parameters.set(report.parameters[key]?.restName ?? key, String(value));
      }
      const [one, other] = await askBoth(`/?${parameters}`);
      expect(other).toEqual(one);
      expect(one.status).toBe(200);
    },
  );

  it(`answers ${QUERIES} queries as the other does`, async () => {
    let found = 0;
    for (const path of await queriesOf(QUERIES)) {
      const [one, other] = await askBoth(path);
      expect({ path, ...other }).toEqual({ path, ...one });
      if (one.status === 200 && one.body.includes('"_id"')) found++;
    }
    // Most are made of what is there, and find it.
    expect(found).toBeGreaterThan(QUERIES / 2);
  }, 240_000);

  it('is kept as the declarations say: no index is missing', async () => {
    const listIndexes = async (url: string) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query(
        `select indexdef from pg_indexes where schemaname = current_schema() order by indexdef`,
      );
      await client.end();
      return rows;
    };
    expect(await listIndexes(restored.database)).toEqual(await listIndexes(source.databaseUrl));
  });
});

describe('a restore whose process died after the commit', () => {
  let file = '';
  let student = { id: '', name: '' };
  let erasures: Record<string, string>[] = [];

  beforeAll(async () => {
    const client = new pg.Client({ connectionString: source.databaseUrl });
    await client.connect();
    const { rows } = await client.query<typeof student>(
      `select id, data->>'name' as name from records
       where collection = 'registration' and data->>'status' = 'active' order by id limit 1`,
    );
    await client.query(
      `insert into collections (name, definition, is_declared, domain_id, version, updated_at)
       select 'club', $1::jsonb, false, id, 1, now() from domains where parent_id is null`,
      [{ name: 'club', fields: [{ name: 'code', type: 'text', unique: true }] }],
    );
    await client.end();
    student = rows[0] ?? student;
    const person = createHash('sha256').update(`registration/${student.id}`).digest('hex');
    erasures = [
      { domain: 'demo', collection: 'registration', person, pseudonym: 'erased-0a1b2c3d', at: '2026-01-01' },
    ];
    file = folder.file('interrupted.campus');
    await backUpTo(file, { url: source.databaseUrl });
  });

  async function query(url: string, text: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return await client
      .query(text)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  const note = `select 1 from settings where name = 'unfinishedRestore'`;

  it('is continued by the same command, and refuses another backup', async () => {
    const { url } = await databases.create();
    expect(await restoreFrom(file, { url })).toBe('restored');
    await expect(restoreFrom(folder.file('school.campus'), { url })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/holds an unfinished restore of another backup \(of 2.*\)\. Run that/),
    });
    expect(await restoreFrom(file, { url, mode: 'try' })).toBe('continued');
    expect(await restoreFrom(file, { url, erasures })).toBe('continued');
    expect(await query(url, note)).toHaveLength(1);
    expect(await restoreFrom(file, { url })).toBe('continued');
    // The list of the second run counts, although the last one named none.
    const lines = await startOn(url);
    expect(lines).toContain('persons erased again: 1');
    expect(await query(url, note)).toEqual([]);
    await expect(restoreFrom(file, { url })).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('is finished by the next start before anything is served', async () => {
    const { url } = await databases.create();
    await restoreFrom(file, { url, erasures });
    const lines = await startOn(url);
    expect(lines[0]).toMatch(/^the restore of the backup of 2.* is not finished; continuing/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^building \d+ indexes of attendance \(\d+ of \d+\)$/),
    );
    expect(lines).toContain('persons erased again: 1');
    expect(await query(url, `select 1 from records where data::text like '%${student.name}%'`)).toEqual([]);
    // A collection that was registered has its unique rule again, too.
    expect(await query(url, `select indexname from pg_indexes where tablename = 'records_club'`)).toEqual(
      expect.arrayContaining([{ indexname: expect.stringMatching(/code.*_key_/) }]),
    );
    expect(await query(url, note)).toEqual([]);
  });

  it('says what keeps it from being finished, and serves nothing until that is mended', async () => {
    const { url } = await databases.create();
    const [user] = (await query(
      source.databaseUrl,
      `select id from records where collection = 'pltf_user' and data->>'user_name' = 'teacher'`,
    )) as { id: string }[];
    const person = createHash('sha256').update(`pltf_user/${user?.id}`).digest('hex');
    await restoreFrom(file, {
      url,
      erasures: [{ ...erasures[0], collection: 'pltf_user', person, pseudonym: 'erased-00000001' } as never],
    });
    await query(
      url,
      `insert into scripts (domain_id, name, version, code, settings, owner, updated_by)
       values ('demo', 'report', 1, '1', '{}', '${user?.id}', '${user?.id}')`,
    );
    await expect(startOn(url)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('scripts of this user are still there: report'),
    });
    await query(url, 'delete from scripts');
    expect(await startOn(url)).toContain('persons erased again: 1');
  });
});

/** Opens the services on a database and closes them; returns the lines for the operator. */
async function startOn(url: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const services = await openServices({
    config: parseConfig({ ...DEFAULT_SETTINGS, DATABASE_URL: url }),
    onFault: () => {},
    onProgress: (line) => lines.push(line),
    passwordCost: CHEAP,
  });
  await services.close();
  return lines;
}

/** Of each collection in turn: fields and values of its own records, in all orders; the same every time. */
async function queriesOf(count: number): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: source.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ collection: string; data: Record<string, JsonValue> }>(
    `select collection, data
     from (
       select collection, data, row_number() over (partition by collection order by md5(id)) as number
       from records
     ) as numbered
     where number <= 40
     order by number, collection`,
  );
  await client.end();
  const random = new Random(1, 'queries');
  return Array.from({ length: count }, (_, index) => {
    const record = rows[index % rows.length];
    if (record === undefined) throw new Error('the school has records');
    const fields = Object.keys(record.data).sort();
    const field = fields[random.integer(0, fields.length - 1)] ?? '_id';
    const parameters = new URLSearchParams({
      oquery: conditionOf(field, record.data[field] ?? null, random),
      limit: String(random.integer(1, 30)),
      sort: `${random.isChance(0.5) ? '-' : ''}${fields[random.integer(0, fields.length - 1)]}`,
    });
    return `/o/recs/${record.collection}?${parameters}`;
  });
}

function conditionOf(field: string, value: JsonValue, random: Random): string {
  if (typeof value === 'number') return `${field}${random.pick(['=', '=>', '=<'])}${value}`;
  if (typeof value !== 'string') return `${field}=?`;
  const escaped = value.replaceAll(/[\\,]/g, '\\$&');
  return `${field}=${escaped}`;
}
