import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { LEFT_OUT_TABLES } from '../../src/backup/kept-tables.js';
import { type App, createApp } from '../../src/compose/app.js';
import { parseConfig } from '../../src/config.js';
import { Random } from '../../src/demo/random.js';
import type { JsonValue } from '../../src/json.js';
import { reports } from '../../src/reports/registry.js';
import { CHEAP } from '../cheap-passwords.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { DEFAULT_SETTINGS } from '../contract/gateway.js';
import { IS_FULL_LENGTH } from '../full-length.js';
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
}, 120_000);

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

/** Rows that each running gateway writes by its own clock: how far schedules have been looked at. */
const BESIDES = new Map([['settings', " where name <> 'scriptScheduleLookedAt'"]]);

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
