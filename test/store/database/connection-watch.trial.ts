import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import type { DatabaseNews } from '../../../src/store/database/connection-watch.js';
import { type Database, openDatabase } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { TcpProxy } from '../../tcp-proxy.js';

const test = useTestDatabase();
let proxy: TcpProxy;
let database: Database;
let news: DatabaseNews[];

beforeEach(async () => {
  proxy = await TcpProxy.start(test.url);
  database = await openDatabase({
    url: proxy.url,
    poolSize: 4,
    statementTimeoutMs: 20_000,
    applicationName: 'watched',
  });
  news = [];
  database.onNews((one) => news.push(one));
  await askAtOnce(3);
  await eventually(isWatched);
});

afterEach(async () => {
  if (!database.pool.ended) await database.close();
  await proxy.close();
});

describe('a database that says nothing any more', () => {
  it('fails what waits for it, then what comes, and is found again', async () => {
    proxy.swallow();
    await expectUnavailable(askAtOnce(3));
    await eventually(() => !database.isReachable);
    await expectUnavailable(askAtOnce(1));
    await expectUnavailable(database.prisma.setting.findMany());
    expect(kinds()).toEqual(['databaseLost']);

    proxy.pass();
    await eventually(() => database.isReachable);
    expect(await askAtOnce(3)).toEqual([1, 1, 1]);
    expect(kinds()).toEqual(['databaseLost', 'databaseBack']);
  });

  it('does not keep a transaction or a stream waiting', async () => {
    const transaction = database.transaction(async (within) => {
      await within.query(sql`select 1`);
      proxy.swallow();
      await within.query(sql`select 2`);
    });
    await expectUnavailable(transaction);
    await expectUnavailable(readAll(database.stream(sql`select 'a'`)));
  });

  it('has any number wait in the background until it is back', async () => {
    const ended = new AbortController();
    const pool = database.openPool({
      ...{ size: 1, applicationName: 'in the background', statementTimeoutMs: 20_000 },
      waitUntil: ended.signal,
    });
    proxy.swallow();
    await eventually(() => !database.isReachable);
    const waiting = Array.from({ length: 12 }, () => pool.query('select 1 as one'));
    await eventually(() => getEventListeners(ended.signal, 'abort').length === waiting.length);
    proxy.pass();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ rows }) => rows)).toEqual(waiting.map(() => [{ one: 1 }]));
    await pool.end();
  });

  it('does not keep its own end waiting', async () => {
    proxy.swallow();
    const asked = expectUnavailable(ask());
    await eventually(() => database.pool.idleCount < database.pool.totalCount);
    await database.close();
    await asked;
    expect(database.pool.ended).toBe(true);
  });
});

describe('a connection that died without a word', () => {
  it('fails its statement, while the others go on, and does not come back', async () => {
    proxy.forget(1);
    const answers = await Promise.allSettled([ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await askAtOnce(3)).toEqual([1, 1, 1]);
    expect(kinds()).not.toContain('databaseLost');
  });

  it('is no outage where all died and new ones are made', async () => {
    proxy.forget();
    await eventually(() => news.some(({ kind }) => kind === 'connectionsDropped'), 20_000);
    expect(await askAtOnce(4)).toEqual([1, 1, 1, 1]);
    expect(kinds()).not.toContain('databaseLost');
  });
});

describe('a statement that is slow', () => {
  it('is waited for, and so is a stream whose reader rests', async () => {
    const slow = database.query<{ one: number }>(sql`select 1 as one from pg_sleep(8)`);
    const stream = database.stream(sql`select n::text from generate_series(1, 3) n`, { batchRows: 1 });
    const texts: string[] = [];
    for await (const batch of stream) {
      texts.push(...batch);
      if (texts.length === 1) await slow;
    }
    expect(await slow).toEqual([{ one: 1 }]);
    expect(texts).toEqual(['1', '2', '3']);
    expect(news).toEqual([]);
  });
});

describe('a database that takes no changes', () => {
  const write = () => database.query(sql`update settings set updated_at = now() where name = 'none'`);
  const setReadOnly = (value: 'on' | 'off') =>
    test.database.pool.query(
      `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', ` +
        'current_database()); end $$',
    );

  afterEach(() => setReadOnly('off').catch(() => undefined));

  it('is written to again as soon as it takes them, on whatever connection', async () => {
    await setReadOnly('on');
    proxy.cut();
    await eventually(() =>
      database.query(sql`select 1`).then(
        () => true,
        () => false,
      ),
    );
    await askAtOnce(4);
    await expectUnavailable(write());
    await eventually(() => database.isReadOnly);

    await setReadOnly('off');
    await eventually(() => !database.isReadOnly);
    await eventually(() =>
      write().then(
        () => true,
        () => false,
      ),
    );
    await Promise.all([write(), write(), write(), write()]);
    expect(kinds().filter((kind) => kind === 'databaseRole')).toHaveLength(2);
  });
});

/** The watch connects at its first beat. */
async function isWatched(): Promise<boolean> {
  const { rowCount } = await test.database.pool.query(
    `select from pg_stat_activity
      where datname = current_database() and application_name = 'watched probe'
        and state = 'idle' and query like '%pg_is_in_recovery%'`,
  );
  return rowCount === 1;
}

async function ask(): Promise<number | undefined> {
  const rows = await database.query<{ one: number }>(sql`select 1 as one from pg_sleep(0.05)`);
  return rows[0]?.one;
}

function askAtOnce(count: number): Promise<(number | undefined)[]> {
  return Promise.all(Array.from({ length: count }, ask));
}

async function readAll(stream: AsyncIterable<readonly string[]>): Promise<string[]> {
  const all: string[] = [];
  for await (const batch of stream) all.push(...batch);
  return all;
}

async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: expect.any(Number) });
}

function kinds(): string[] {
  return news.map(({ kind }) => kind);
}
