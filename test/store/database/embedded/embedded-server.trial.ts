import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Database, openDatabase } from '../../../../src/store/database/database.js';
import {
  type EmbeddedServer,
  startEmbeddedServer,
} from '../../../../src/store/database/embedded/embedded-server.js';
import { runProgram } from '../../../../src/store/database/embedded/server-programs.js';
import { sql } from '../../../../src/store/sql.js';
import { expectEventually } from '../../../expect-eventually.js';

let dataDirectory: string;
/** Stopped, and the folder removed, whatever a test did. */
let servers: EmbeddedServer[];

/**
 * The data directory of a server that was started once and stopped: the tests copy it, which is quicker than
 * making one.
 */
let usedDirectory: string;

beforeAll(async () => {
  usedDirectory = await createDirectory();
  const server = await startEmbeddedServer({ dataDirectory: usedDirectory });
  await server.stop();
});

afterAll(async () => {
  await rm(usedDirectory, { recursive: true, force: true });
});

beforeEach(async () => {
  dataDirectory = await createDirectory();
  const copied = await runProgram('cp', ['-a', `${usedDirectory}/.`, dataDirectory], undefined);
  expect(copied).toEqual({ exitCode: 0, output: '' });
  servers = [];
});

afterEach(async () => {
  for (const server of servers) await server.stop();
  await rm(dataDirectory, { recursive: true, force: true });
});

/** Open to the user PostgreSQL runs as when the tests run as root. */
async function createDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'campus-server-'));
  await chmod(directory, 0o755);
  return directory;
}

async function start(onLog?: (line: string) => void): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dataDirectory, ...(onLog ? { onLog } : {}) });
  servers.push(server);
  return server;
}

/** The value of the first column of the first row. */
async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  // The server may be killed between the connection and the question, which then fails by itself.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** As `ask`, as soon as the server answers. */
async function eventuallyAsk(url: string, sql: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(url, sql);
    } catch (error) {
      if (attempt === 200) throw error;
      await sleep(100);
    }
  }
}

async function serverProcessId(): Promise<number> {
  return Number(
    (await readFile(path.join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0],
  );
}

/**
 * A gateway as a process of its own: starts the server, writes a row after each line of stdin, and waits to
 * be killed.
 */
async function spawnGateway(): Promise<{ process: ChildProcess; url: string }> {
  const script = `
    import { register } from 'node:module';
    register(${JSON.stringify(new URL('../../../typescript-hooks.mjs', import.meta.url).href)});
    const { startEmbeddedServer } = await import(${JSON.stringify(new URL('../../../../src/store/database/embedded/embedded-server.ts', import.meta.url).href)});
    const server = await startEmbeddedServer({ dataDirectory: ${JSON.stringify(dataDirectory)} });
    console.log(server.url);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
    child.once('exit', () => reject(new Error('The gateway ended before it had a database')));
  });
  return { process: child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

describe('the embedded server', () => {
  it('is PostgreSQL 18, byte-ordered, in UTF-8, and gives up no durability', async () => {
    const { url } = await start();
    await expect(ask(url, 'show server_version_num')).resolves.toMatch(/^18/);
    await expect(ask(url, `select 'Z' < 'a' and 'z' < 'é'`)).resolves.toBe(true);
    await expect(ask(url, `select upper('é')`)).resolves.toBe('É');
    await expect(ask(url, 'show server_encoding')).resolves.toBe('UTF8');
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await expect(ask(url, `show ${setting}`)).resolves.toBe('on');
    }
  });

  it('lets nobody in without its password, which its owner alone can read', async () => {
    const { url } = await start();
    const file = path.join(dataDirectory, 'postgres.json');
    const withoutPassword = new URL(url);
    withoutPassword.password = 'guess';
    await expect(ask(withoutPassword.href, 'select 1')).rejects.toThrow('password authentication failed');
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
    await expect(ask(url, 'show listen_addresses')).resolves.toBe('127.0.0.1');
  });

  it('keeps records and address over a stop, which is clean', async () => {
    const first = await start();
    await ask(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    await expect(stat(path.join(dataDirectory, 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
    const second = await start();
    expect(second.url).toBe(first.url);
    await expect(ask(second.url, 'select answer from kept')).resolves.toBe(42);
    await expect(readFile(path.join(dataDirectory, 'postgres', 'server.log'), 'utf8')).resolves.not.toMatch(
      /not properly shut down/,
    );
  });

  it('starts where another program has taken its port', async () => {
    const first = await start();
    await first.stop();
    const { createServer } = await import('node:net');
    const other = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
    try {
      const second = await start();
      expect(second.url).not.toBe(first.url);
      await expect(ask(second.url, 'select 1')).resolves.toBe(1);
    } finally {
      other.close();
    }
  });

  it('goes on with the server a killed gateway left, and loses no acknowledged write', async () => {
    const gateway = await spawnGateway();
    await ask(gateway.url, 'create table written (n int)');
    await ask(gateway.url, 'insert into written values (1)');
    await kill(gateway.process);
    const server = await start();
    await expect(ask(server.url, 'select count(*)::int from written')).resolves.toBe(1);
    await server.stop();
    await expect(ask(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('recovers when the server was killed with its gateway', async () => {
    const gateway = await spawnGateway();
    await ask(gateway.url, 'create table written as select 1 as n');
    process.kill(await serverProcessId(), 'SIGKILL');
    await kill(gateway.process);
    const server = await start();
    await expect(ask(server.url, 'select n from written')).resolves.toBe(1);
  });

  it('is not held up by a process id that belongs to somebody else by now', async () => {
    const first = await start();
    await first.stop();
    const pidFile = path.join(dataDirectory, 'postgres', 'postmaster.pid');
    await writeFile(pidFile, `${process.pid}\n${dataDirectory}/postgres\n1\n1\n\n127.0.0.1\n\nready   \n`);
    const lines: string[] = [];
    const second = await start((line) => lines.push(line));
    expect(lines).toEqual([`Removed the left-over ${pidFile}`]);
    await expect(ask(second.url, 'select 1')).resolves.toBe(1);
  });

  it('is started again where it was when it dies, and loses no acknowledged write', async () => {
    const lines: string[] = [];
    const server = await start((line) => lines.push(line));
    await ask(server.url, 'create table written as select 1 as n');
    process.kill(await serverProcessId(), 'SIGKILL');
    await expect(eventuallyAsk(server.url, 'select n from written')).resolves.toBe(1);
    process.kill(await serverProcessId(), 'SIGKILL');
    await expect(eventuallyAsk(server.url, 'select n from written')).resolves.toBe(1);
    await server.stop();
    await expect(ask(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('is not stopped under another gateway whose connection was lost meanwhile', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    const presences = `from pg_stat_activity where application_name = 'campus embedded server'`;
    await ask(first.url, `select count(pg_terminate_backend(pid)) ${presences}`);
    while ((await ask(first.url, `select count(*)::int ${presences}`)) !== 2) await sleep(50);
    await first.stop();
    await expect(ask(second.url, 'select 1')).resolves.toBe(1);
  });

  it('is shared by two gateways, and stopped by the last', async () => {
    const lines: string[] = [];
    const [first, second] = await Promise.all([
      start((line) => lines.push(line)),
      start((line) => lines.push(line)),
    ]);
    expect(second.url).toBe(first.url);
    expect(lines).toEqual([expect.stringContaining('Joined the PostgreSQL that already runs')]);
    await first.stop();
    await expect(ask(second.url, 'select 1')).resolves.toBe(1);
    await second.stop();
    await expect(ask(second.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('hears all that a program says, whether or not it has ended by then', async () => {
    const said = await runProgram('/bin/sh', ['-c', '(sleep 0.3; echo 101) & exit 0'], undefined);
    expect(said).toEqual({ exitCode: 0, output: '101\n' });
  });

  it('says in one line that its password is lost', async () => {
    await rm(path.join(dataDirectory, 'postgres.json'));
    await expectRefusal(/^.*postgres\.json is missing: it holds the password of the database in .*$/);
  });

  it('says in one line that its database is of another version of PostgreSQL', async () => {
    await writeFile(path.join(dataDirectory, 'postgres', 'PG_VERSION'), '17\n');
    await expectRefusal(
      /^The database in .* was made by PostgreSQL 17, this gateway has 18: .*campus restore.*$/,
    );
  });

  it('says in one line that its data directory is none', async () => {
    const file = path.join(dataDirectory, 'a-file');
    await writeFile(file, '');
    const started = startEmbeddedServer({ dataDirectory: file });
    await expect(started).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^DATA_DIRECTORY, .*a-file, cannot be used: EEXIST.*$/),
    });
  });

  it('says in one line why PostgreSQL does not start', async () => {
    await writeFile(path.join(dataDirectory, 'postgres', 'pg_hba.conf'), 'nonsense\n');
    await expectRefusal(/^PostgreSQL did not start: FATAL: .*pg_hba\.conf.* \(see .*server\.log\)$/);
  });
});

async function expectRefusal(line: RegExp): Promise<void> {
  const refusal = { code: 'UNAVAILABLE', message: expect.stringMatching(line) };
  await expect(start()).rejects.toMatchObject(refusal);
}

describe('a database whose server stops and comes back', () => {
  let database: Database;

  afterEach(async () => {
    await database.close();
  });

  it('throws UNAVAILABLE in between and recovers by itself', async () => {
    const first = await start();
    database = await openDatabase({ url: first.url, poolSize: 3, statementTimeoutMs: 5_000 });
    const one = sql`select 1 as one`;
    const running = database.query(sql`select pg_sleep(30)`);
    const interrupted = expect(running).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    const read = async () => {
      for await (const _batch of database.stream(
        sql`select pg_sleep(0.01)::text from generate_series(1, 10000)`,
      ));
    };
    const cut = expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await database.transaction((transaction) => transaction.query(one));
    await first.stop();
    await interrupted;
    await cut;
    await expect(database.query(one)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    await expect(database.prisma.$queryRawUnsafe(one.text)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(database.transaction((transaction) => transaction.query(one))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    await start();
    await expectEventually(() => database.query(one).catch(String), [{ one: 1 }]);
    await expect(database.prisma.$queryRawUnsafe(one.text)).resolves.toEqual([{ one: 1 }]);
  });

  it('hears notifications again, and tells that some may have been missed', async () => {
    const first = await start();
    database = await openDatabase({ url: first.url, poolSize: 3, statementTimeoutMs: 5_000 });
    const heard: string[] = [];
    const waiters: (() => void)[] = [];
    const note = (text: string) => {
      heard.push(text);
      waiters.shift()?.();
    };
    const next = () => new Promise<void>((resolve) => waiters.push(resolve));
    const stop = await database.listen('news', note, () => note('gap'));
    const tell = (text: string) => database.query(sql`select pg_notify('news', ${text})`);

    let arrived = next();
    await tell('before');
    await arrived;
    arrived = next();
    await first.stop();
    await arrived;
    expect(database.isHearing).toBe(false);
    arrived = next();
    await start();
    await arrived;
    expect(database.isHearing).toBe(true);
    arrived = next();
    await tell('after');
    await arrived;
    await stop();
    await tell('unheard');
    expect(heard).toEqual(['before', 'gap', 'gap', 'after']);
  });
});
