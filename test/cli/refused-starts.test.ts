/** Starts that cannot succeed: each says why in one line, soon, and leaves what it found. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DEFAULT_SETTINGS } from '../contract/gateway.js';
import { createTestDatabase, type TestDatabase } from '../database.js';
import { eventually } from '../eventually.js';
import { startCampus } from './campus.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();
let database: TestDatabase;
let client: pg.Client;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`insert into domains (id, name) values ('top', 'Top')`);
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-refused-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** The one line by which a command is refused. */
async function refusalOf(
  environment: Readonly<Record<string, string>>,
  words: readonly string[] = ['start'],
): Promise<string> {
  const { code, output, errors } = await campus(words, { environment: { PORT: '0', ...environment } });
  expect({ code, output, lines: errors.trim().split('\n').length }).toEqual({
    code: 1,
    output: '',
    lines: 1,
  });
  return errors.trim();
}

const withoutPassword = () => Object.assign(new URL(database.url), { password: '' }).href;

/** A data directory that looks as if a gateway had created it. */
async function fillFolder(postgresJson: string, version: string | undefined): Promise<string> {
  await mkdir(path.join(folder, 'postgres'));
  await writeFile(path.join(folder, 'postgres.json'), postgresJson);
  const file = version === undefined ? 'left' : 'PG_VERSION';
  await writeFile(path.join(folder, 'postgres', file), version ?? '');
  return folder;
}

const POSTGRES_JSON = '{ "directory": "postgres", "port": 1, "password": "kept" }';

describe('a start says in one line', () => {
  it.each([[['start']], [['user', 'list']], [['migrate', 'status']]])(
    'that the database requires a password (campus %j)',
    async (words) => {
      expect(await refusalOf({ DATABASE_URL: withoutPassword() }, words)).toMatch(
        /^campus: The database .* requires a password for the user ".+", and the address has none/,
      );
    },
  );

  it.each(['LATIN1', 'SQL_ASCII'])(
    'that the database is in %s, and writes nothing to it',
    async (encoding) => {
      const name = `odd_${encoding.toLowerCase()}`;
      await client.query(
        `create database ${name} encoding '${encoding}' template template0 locale_provider libc locale 'C'`,
      );
      const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).href;
      try {
        expect(await refusalOf({ DATABASE_URL: url })).toContain(`has the encoding ${encoding}`);
        const other = new pg.Client({ connectionString: url });
        await other.connect();
        const { rowCount } = await other.query(
          `select from pg_class where relnamespace = 'public'::regnamespace`,
        );
        await other.end();
        expect(rowCount).toBe(0);
      } finally {
        await client.query(`drop database ${name} with (force)`);
      }
    },
  );

  it('that DATA_DIRECTORY cannot be created', async () => {
    await writeFile(path.join(folder, 'file'), '');
    for (const directory of ['/proc/campus/data', path.join(folder, 'file', 'data')]) {
      expect(await refusalOf({ DATA_DIRECTORY: directory })).toMatch(
        /^campus: DATA_DIRECTORY, .*, cannot be used: E[A-Z]+: .*mkdir/,
      );
    }
  });

  it.each(['{ "directory": "postg', '{ "directory": "postgres", "port": "x" }', '', 'null'])(
    'that postgres.json is damaged (%j)',
    async (text) => {
      const refusal = await refusalOf({ DATA_DIRECTORY: await fillFolder(text, '18\n') });
      expect(refusal).toContain(`${path.join(folder, 'postgres.json')} is damaged`);
    },
  );

  it('that the database folder is damaged, and keeps its password', async () => {
    expect(await refusalOf({ DATA_DIRECTORY: await fillFolder(POSTGRES_JSON, undefined) })).toContain(
      'PG_VERSION is missing',
    );
    expect(await readFile(path.join(folder, 'postgres.json'), 'utf8')).toBe(POSTGRES_JSON);
    expect(await readdir(path.join(folder, 'postgres'))).toEqual(['left']);
  });

  it('that the database folder belongs to somebody else', async () => {
    // Only root can make such a folder: its own, as PostgreSQL runs as another user.
    if (process.getuid?.() !== 0) return;
    expect(await refusalOf({ DATA_DIRECTORY: await fillFolder(POSTGRES_JSON, '18\n') })).toContain(
      'belongs to the user with the id 0',
    );
  });
});

it('a database with an odd name is found', async () => {
  const name = 'odd db/n&a%me+é';
  await client.query(`create database "${name}"`);
  const url = Object.assign(new URL(database.url), { pathname: `/${encodeURIComponent(name)}` }).href;
  try {
    const { code, errors } = await campus(['migrate', 'status'], { environment: { DATABASE_URL: url } });
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
  } finally {
    await client.query(`drop database "${name}" with (force)`);
  }
});

describe('a start that waits', () => {
  it('names the transaction that holds a lock, warns of too few connections, and stops at once', async () => {
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows;
    await client.query(
      `do $$ begin execute format('alter role %I connection limit 90', current_user); end $$`,
    );
    await client.query('begin');
    await client.query('lock table domains in access exclusive mode');
    const { stop, says } = start({ DATABASE_URL: database.url });
    try {
      await says(`lock that the process ${pid} of the database holds`);
      await stop(0);
    } finally {
      await client.query('rollback');
    }
    const { stop: stopPool, says: saysPool } = start({ DATABASE_URL: database.url, POOL_SIZE: '100' });
    await saysPool('POOL_SIZE=100 with WORKERS=1 may open 211 connections, and the database allows 90');
    await stopPool(0);
    await client.query(
      `do $$ begin execute format('alter role %I connection limit -1', current_user); end $$`,
    );
  });

  describe('for a database that accepts connections and never answers', () => {
    let connections = 0;
    let server: Server;

    beforeAll(async () => {
      server = createServer((socket) => {
        connections += 1;
        socket.on('error', () => {}).resume();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });

    afterAll(() => new Promise((resolve) => server.close(resolve)));

    it.each(['1', '2'])('is stopped at once (WORKERS=%s)', async (WORKERS) => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      const before = connections;
      const { stop } = start({ WORKERS, DATABASE_URL: `postgresql://a:b@127.0.0.1:${port}/campus` });
      await eventually(() => connections > before);
      expect(await stop(0)).toBe('campus: stopped before it had started; nothing is left half made\n');
    });
  });
});

/** A gateway as a process, which is stopped by SIGINT. */
function start(settings: Readonly<Record<string, string>>) {
  const child = startCampus(['start'], { ...DEFAULT_SETTINGS, ...settings });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  return {
    says: (text: string) => eventually(() => output.includes(text)),
    async stop(code: number): Promise<string> {
      child.kill('SIGINT');
      await eventually(() => child.exitCode !== null || child.signalCode !== null);
      expect(child.exitCode).toBe(code);
      return output;
    },
  };
}
