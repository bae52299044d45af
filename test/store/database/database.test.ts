import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../../src/base/errors.js';
import { openDatabase } from '../../../src/store/database/database.js';
import { findConstraint } from '../../../src/store/database/database-errors.js';
import { type Sql, sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();

/** A stream of numbers that takes long: `count` rows of a thousand characters, each after `delayMs`. */
function numbers(count: number, delayMs = 0): Sql {
  return sql`
    select rpad(i::text, 1000, '.') from generate_series(1, ${count}::int) i
    cross join lateral (select pg_sleep(${delayMs}::float8 / 1000) where i > 0) pause`;
}

/** What Postgres runs of ours at this moment, streams and queries. */
async function running(fragment: string): Promise<number> {
  const [row] = await test.database.query<{ count: number }>(sql`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
      and query like ${`%${fragment}%`}`);
  return row?.count ?? 0;
}

async function msUntil(condition: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > 5_000) throw new Error('It did not happen in five seconds');
    await sleep(10);
  }
  return performance.now() - start;
}

const PLAIN = { start: '', separator: '', end: '' };

describe('streamJoined', () => {
  const PUNCTUATION = { start: '[', separator: ',', end: ';' };

  it('gives the bytes of all statements in order, with what is to stand between them', async () => {
    const part = (from: number) => ({
      sql: sql`
        select case when n % 3 = 0 then null else n || ' é' end
        from generate_series(${from}::int, ${from}::int + 3) n`,
      name: undefined,
    });
    const batches = [];
    for await (const { bytes, rowCount } of test.database.streamJoined([part(1), part(5)], {
      batchRows: 2,
      punctuation: PUNCTUATION,
    })) {
      batches.push([bytes.toString(), rowCount]);
    }
    expect(batches).toEqual([
      ['[1 é;,2 é;', 2],
      [',null;,4 é;', 2],
      [',5 é;,null;', 2],
      [',7 é;,8 é;', 2],
    ]);
  });

  it('puts a member in at the beginning of an object', async () => {
    const statement = sql`
      select to_json(id)::text, object::text
      from (values ('a', '{}'::jsonb), ('b"é', '{"x": 1, "name": "ü"}'), ('c', null)) as row (id, object)`;
    const punctuation = { start: '[', separator: ',', end: '', firstMember: '_id' };
    let text = '';
    for await (const { bytes } of test.database.streamJoined([{ sql: statement, name: undefined }], {
      punctuation,
    })) {
      text += bytes.toString();
    }
    expect(text).toBe('[{"_id": "a"},{"_id": "b\\"é", "x": 1, "name": "ü"},{"_id": "c"}');
  });

  it('keeps batches whole that are read later than the next ones come', async () => {
    const batches: Buffer[] = [];
    for await (const { bytes } of test.database.streamJoined(
      [{ sql: numbers(300), name: 'joined-numbers' }],
      {
        batchRows: 7,
        punctuation: { start: '', separator: '', end: '\n' },
      },
    )) {
      batches.push(bytes);
    }
    const lines = Buffer.concat(batches).toString().trimEnd().split('\n');
    expect(lines).toEqual(Array.from({ length: 300 }, (_, index) => String(index + 1).padEnd(1000, '.')));
  });

  it('holds rows that are longer than any before', async () => {
    const statement = sql`select repeat('x', n * 50000) from generate_series(1, 6) n`;
    const lengths = [];
    for await (const { bytes } of test.database.streamJoined([{ sql: statement, name: undefined }], {
      batchRows: 3,
      punctuation: PUNCTUATION,
    })) {
      lengths.push(bytes.length);
    }
    expect(lengths).toEqual([300_006, 750_006]);
  });

  it('leaves the connection fit for strings', async () => {
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 10_000 });
    const statement = { sql: sql`select 'é' from generate_series(1, 5)`, name: 'either-way' };
    try {
      for (let round = 0; round < 2; round++) {
        for await (const { bytes } of database.streamJoined([statement], {
          batchRows: 2,
          punctuation: PUNCTUATION,
        })) {
          expect(bytes.toString()).toBe('[é;,é;');
          break;
        }
        for await (const batch of database.stream(statement.sql, { name: statement.name })) {
          expect(batch).toEqual(['é', 'é', 'é', 'é', 'é']);
        }
      }
    } finally {
      await database.close();
    }
  });
});

describe('query', () => {
  it('passes every substitution as a parameter and gives rows', async () => {
    const text = `'; drop table records; --`;
    await expect(
      test.database.query(sql`select ${text}::text as text, ${[1, 2]}::int[] as list, ${7}::int + 1 as sum`),
    ).resolves.toEqual([{ text, list: [1, 2], sum: 8 }]);
  });

  it('keeps days as text, counts as numbers, numeric as its digits', async () => {
    await expect(
      test.database.query(
        sql`select date '2026-03-29' as day, count(*) as count,
          12345678901234567890.10::numeric as amount from domains`,
      ),
    ).resolves.toEqual([{ day: '2026-03-29', count: 0, amount: '12345678901234567890.10' }]);
  });

  it.each([undefined, 'told-as-bytes'])(
    'gives texts as the bytes Postgres sent, prepared as %s',
    async (name) => {
      const statement = sql`
      select 'é ' || n as text, 200 + n as number, null::text as nothing, n = 1 as flag,
        date '2026-03-29' as day
      from generate_series(1, 2) n`;
      const row = (n: number) => ({
        text: Buffer.from(`é ${n}`),
        number: 200 + n,
        nothing: null,
        flag: n === 1,
        day: '2026-03-29',
      });
      for (let run = 0; run < 3; run++) {
        const options = { texts: 'bytes', ...(name !== undefined && { name }) } as const;
        await expect(test.database.query(statement, options)).resolves.toEqual([row(1), row(2)]);
        const [asStrings] = await test.database.query<{ text: string }>(
          statement,
          name === undefined ? {} : { name },
        );
        expect(asStrings?.text).toBe('é 1');
      }
    },
  );

  it('keeps a long answer whole that comes in many pieces', async () => {
    const rows = await test.database.query<{ text: Buffer }>(
      sql`select repeat(chr(96 + n), 200000) as text from generate_series(1, 20) n`,
      { texts: 'bytes' },
    );
    expect(rows.map(({ text }) => text.toString())).toEqual(
      Array.from({ length: 20 }, (_, index) => String.fromCharCode(97 + index).repeat(200_000)),
    );
  });

  it('knows a statement without rows when it comes again', async () => {
    for (let run = 0; run < 3; run++) {
      await expect(
        test.database.query(sql`delete from records where id = ${'none'}`, { name: 'without-rows' }),
      ).resolves.toEqual([]);
    }
  });

  it('refuses another text under a name that is taken, and goes on', async () => {
    const taken = { name: 'taken' };
    const client = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 10_000 });
    try {
      await client.query(sql`select 1 as one`, taken);
      await expect(client.query(sql`select 2 as two`, taken)).rejects.toThrow('another statement');
      await expect(client.query(sql`select 1 as one`, taken)).resolves.toEqual([{ one: 1 }]);
    } finally {
      await client.close();
    }
  });

  it('prepares again what could not be prepared, and runs again what failed', async () => {
    const client = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 10_000 });
    const divided = (n: number) => client.query(sql`select 1 / ${n}::int as part`, { name: 'divided' });
    const absent = () => client.query(sql`select n from made_later`, { name: 'made-later' });
    try {
      await expect(divided(0)).rejects.toThrow();
      await expect(divided(1)).resolves.toEqual([{ part: 1 }]);
      await expect(divided(0)).rejects.toThrow();
      await expect(divided(1)).resolves.toEqual([{ part: 1 }]);
      await expect(absent()).rejects.toThrow();
      await client.query(sql`create table made_later as select 5 as n`);
      await expect(absent()).resolves.toEqual([{ n: 5 }]);
      await client.query(sql`drop table made_later`);
    } finally {
      await client.close();
    }
  });

  it('prepares a named statement once a connection', async () => {
    const statement = (n: number) => sql`select ${n}::int as prepared_number`;
    for (let n = 0; n < 20; n++) {
      await expect(test.database.query(statement(n), { name: 'numbers' })).resolves.toEqual([
        { prepared_number: n },
      ]);
    }
    const prepared = await test.database.query(
      sql`select name from pg_prepared_statements where name = 'numbers'`,
    );
    expect(prepared).toEqual([{ name: 'numbers' }]);
  });

  it('keeps the connection after an error of Postgres', async () => {
    const backend = sql`select pg_backend_pid() as id`;
    const before = await test.database.query(backend);
    await expect(test.database.query(sql`select 1/0`)).rejects.toThrow('division by zero');
    await expect(test.database.query(backend)).resolves.toEqual(before);
  });

  it('ends in Postgres when its signal does, and leaves the connection fit for use', async () => {
    const controller = new AbortController();
    const query = test.database.query(sql`select pg_sleep(30), 'aborted query'`, {
      signal: controller.signal,
    });
    const rejected = expect(query).rejects.toThrow('the reader has gone');
    await msUntil(async () => (await running('aborted query')) === 1);
    controller.abort(new Error('the reader has gone'));
    await rejected;
    expect(await msUntil(async () => (await running('aborted query')) === 0)).toBeLessThan(1_000);
    for (let i = 0; i < 10; i++) await test.database.query(sql`select 1`);
  });

  it('refuses to start under a signal that has fired', async () => {
    const query = test.database.query(sql`select 1`, { signal: AbortSignal.abort(new Error('gone')) });
    await expect(query).rejects.toThrow('gone');
  });
});

describe('stream', () => {
  it('gives the rows in order, in batches', async () => {
    const batches: (readonly string[])[] = [];
    const statement = sql`select i::text from generate_series(1, ${7}::int) i`;
    for await (const batch of test.database.stream(statement, { batchRows: 3 })) batches.push(batch);
    expect(batches).toEqual([['1', '2', '3'], ['4', '5', '6'], ['7']]);
  });

  it('gives no batch for no rows, and ends where the last batch is full', async () => {
    const sizes = async (count: number) => {
      const statement = sql`select i::text from generate_series(1, ${count}::int) i`;
      const found: number[] = [];
      for await (const batch of test.database.stream(statement, { batchRows: 3, name: 'sizes' }))
        found.push(batch.length);
      return found;
    };
    await expect(sizes(0)).resolves.toEqual([]);
    await expect(sizes(6)).resolves.toEqual([3, 3]);
  });

  it('gives the first batch before the last row is made', async () => {
    const start = performance.now();
    for await (const batch of test.database.stream(numbers(1_000, 5), { batchRows: 4 })) {
      expect(batch).toHaveLength(4);
      break;
    }
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  it('is made at most one batch ahead of its reader', async () => {
    await test.database.query(sql`create sequence made`);
    const statement = sql`select nextval('made')::text from generate_series(1, 10000)`;
    let batches = 0;
    for await (const _batch of test.database.stream(statement, { batchRows: 10 })) {
      await sleep(30);
      const [row] = await test.database.query<{ made: number }>(sql`select last_value as made from made`);
      batches++;
      expect(row?.made).toBe(10 * (batches + 1));
      if (batches === 5) break;
    }
  });

  it.each(['between batches', 'while Postgres works'])(
    'ends in Postgres when its reader leaves %s',
    async (when) => {
      const delayMs = when === 'between batches' ? 0 : 20;
      for await (const _batch of test.database.stream(numbers(100_000, delayMs), { batchRows: 50 })) {
        expect(await running('generate_series')).toBe(1);
        break;
      }
      expect(await msUntil(async () => (await running('generate_series')) === 0)).toBeLessThan(1_000);
    },
  );

  it('ends in Postgres when its signal fires before the first batch', async () => {
    const controller = new AbortController();
    const read = async () => {
      for await (const _batch of test.database.stream(numbers(1_000, 100), { signal: controller.signal }));
    };
    const rejected = expect(read()).rejects.toThrow('gone');
    await msUntil(async () => (await running('generate_series')) === 1);
    controller.abort(new Error('gone'));
    expect(await msUntil(async () => (await running('generate_series')) === 0)).toBeLessThan(1_000);
    await rejected;
  });

  it('ends in Postgres when its signal fires while the reader is busy', async () => {
    const controller = new AbortController();
    const stream = test.database.stream(numbers(100_000), { signal: controller.signal, batchRows: 10 });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    controller.abort(new Error('gone'));
    expect(await msUntil(async () => (await running('generate_series')) === 0)).toBeLessThan(1_000);
    await expect(iterator.next()).rejects.toThrow('gone');
  });

  it('gives its connection back fit for the next one, however it ended', async () => {
    for (let i = 0; i < 40; i++) {
      for await (const batch of test.database.stream(numbers(5_000), {
        batchRows: 1 + (i % 7),
        name: 'again',
      })) {
        expect(batch[0]).toMatch(/^1\./);
        break;
      }
    }
    const statement = sql`select 'whole'`;
    for await (const batch of test.database.stream(statement)) expect(batch).toEqual(['whole']);
  });

  it('throws in mid-stream what Postgres reports there', async () => {
    const statement = sql`select (1 / (5 - i))::text from generate_series(1, ${10}::int) i`;
    let rows = 0;
    const read = async () => {
      for await (const batch of test.database.stream(statement, { batchRows: 2 })) rows += batch.length;
    };
    await expect(read()).rejects.toThrow('division by zero');
    expect(rows).toBe(4);
  });

  it('may last longer than a statement may, as long as each batch does not', async () => {
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 300 });
    try {
      let rows = 0;
      for await (const batch of database.stream(numbers(60, 10), { batchRows: 5 })) rows += batch.length;
      expect(rows).toBe(60);
      const read = async () => {
        for await (const _batch of database.stream(numbers(1, 5_000)));
      };
      await expect(read()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(await msUntil(async () => (await running('generate_series')) === 0)).toBeLessThan(1_000);
    } finally {
      await database.close();
    }
  });

  it('reads statements one after the other, as one moment has them', async () => {
    await test.database.query(sql`create table moments as select i as n from generate_series(1, 4) i`);
    const part = (isEven: boolean) => ({
      sql: sql`select n::text from moments where (n % 2 = 0) = ${isEven} order by n`,
      name: 'moments',
    });
    const rows: string[] = [];
    const options = { batchRows: 1, punctuation: PLAIN };
    for await (const { bytes } of test.database.streamJoined([part(true), part(false)], options)) {
      rows.push(bytes.toString());
      await test.database.query(sql`update moments set n = n + 10001 where n < 10000`);
    }
    expect(rows).toEqual(['2', '4', '1', '3']);
    expect(await running('moments')).toBe(0);
  });

  it.each([1, 3])('ends statements in turn wherever their reader leaves: batch %d', async (last) => {
    const parts = [numbers(1_500), numbers(100_000)].map((sql) => ({ sql, name: undefined }));
    for (const ending of ['leave', 'abort'] as const) {
      const controller = new AbortController();
      let batches = 0;
      const readSome = async () => {
        const options = { batchRows: 1_000, signal: controller.signal, punctuation: PLAIN };
        for await (const _batch of test.database.streamJoined(parts, options)) {
          batches += 1;
          if (batches < last) continue;
          if (ending === 'leave') return;
          controller.abort(new Error('gone'));
        }
      };
      if (ending === 'leave') await readSome();
      else await expect(readSome()).rejects.toThrow('gone');
      expect(batches).toBe(last);
      expect(await msUntil(async () => (await running('generate_series')) === 0)).toBeLessThan(1_000);
    }
    const whole = { sql: sql`select 'whole'`, name: undefined };
    for await (const { bytes } of test.database.streamJoined([whole, whole], { punctuation: PLAIN }))
      expect(bytes.toString()).toBe('whole');
  });

  it('leaves the connections for queries alone', async () => {
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 5_000 });
    try {
      for await (const _batch of database.stream(numbers(1_000), { batchRows: 1 })) {
        await expect(database.query(sql`select 1 as one`)).resolves.toEqual([{ one: 1 }]);
        break;
      }
    } finally {
      await database.close();
    }
  });
});

describe('transaction', () => {
  it('keeps all of its work', async () => {
    const id = await test.database.transaction(async (transaction) => {
      await transaction.query(sql`insert into domains (id, name) values ('kept', 'Kept')`);
      const [row] = await transaction.query<{ id: string }>(sql`select id from domains where id = 'kept'`);
      return row?.id;
    });
    expect(id).toBe('kept');
    await expect(test.database.prisma.domain.count({ where: { id: 'kept' } })).resolves.toBe(1);
  });

  it('keeps nothing when its work throws', async () => {
    const work = test.database.transaction(async (transaction) => {
      await transaction.query(sql`insert into domains (id, name) values ('lost', 'Lost')`);
      throw new ServiceError('FORBIDDEN', 'no');
    });
    await expect(work).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(test.database.prisma.domain.count({ where: { id: 'lost' } })).resolves.toBe(0);
  });

  it('is of no use after its end', async () => {
    const leaked = await test.database.transaction(async (transaction) => ({ transaction }));
    await expect(leaked.transaction.query(sql`select 1`)).rejects.toThrow('after its end');
  });
});

describe('errors', () => {
  const insertDomain = sql`insert into domains (id, name) values ('twice', 'Twice')`;

  it('makes a unique violation a CONFLICT that carries the constraint', async () => {
    await test.database.query(insertDomain);
    const error = await test.database.query(insertDomain).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'CONFLICT' });
    expect(findConstraint(error)).toBe('domains_pkey');
  });

  it('makes the same of Prisma’s errors', async () => {
    const { domain } = test.database.prisma;
    await domain.create({ data: { id: 'prisma', name: 'Prisma' } });
    const error = await domain
      .create({ data: { id: 'prisma', name: 'Prisma' } })
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'CONFLICT' });
    expect(findConstraint(error)).toBe('domains_pkey');
    const orphan = domain.create({ data: { id: 'orphan', name: 'Orphan', parentId: 'nobody' } });
    await expect(orphan).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it.each([
    ['text with U+0000', sql`select ${'a\u0000b'}::text`],
    ['a document with U+0000', sql`select ${JSON.stringify({ a: '\u0000' })}::jsonb`],
    ['half a surrogate pair', sql`select ${'{"a":"\\ud800"}'}::jsonb`],
    ['a number out of range', sql`select ${'99999999999'}::int`],
    ['a date that is none', sql`select ${'2026-02-30'}::date`],
  ])('makes %s INVALID_VALUE', async (_what, statement) => {
    await expect(test.database.query(statement)).rejects.toMatchObject({
      code: 'INVALID_VALUE',
      status: 400,
    });
  });

  it('makes a statement that takes too long UNAVAILABLE', async () => {
    const database = await openDatabase({ url: test.url, poolSize: 1, statementTimeoutMs: 50 });
    try {
      await expect(database.query(sql`select pg_sleep(5)`)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        retryAfterSeconds: 5,
      });
      await expect(database.prisma.$queryRaw`select pg_sleep(5)::text`).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        retryAfterSeconds: 5,
      });
    } finally {
      await database.close();
    }
  });

  it('leaves a fault of ours as it is', async () => {
    const query = test.database.query(sql`select nonsense from records`);
    await expect(query).rejects.not.toBeInstanceOf(ServiceError);
  });

  it('says in one line where it cannot connect to, without the password', async () => {
    const unreachable = openDatabase({
      url: 'postgresql://somebody:secret@127.0.0.1:1/school',
      poolSize: 1,
      statementTimeoutMs: 1_000,
    });
    await expect(unreachable).rejects.toThrow(
      /^The database school at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1$/,
    );
  });

  it('says in one line that the login is refused', async () => {
    const url = new URL(test.url);
    url.password = 'wrong';
    const refused = openDatabase({ url: url.href, poolSize: 1, statementTimeoutMs: 1_000 });
    await expect(refused).rejects.toThrow(
      new RegExp(`cannot be reached: password authentication failed for user "${url.username}"$`),
    );
  });
});

describe('prisma', () => {
  it('reads instants as they were written, whatever the time zone of the server', async () => {
    const at = new Date('2026-07-01T12:34:56.789Z');
    await test.database.query(
      sql`insert into settings (name, value, updated_at) values ('zone', '1', ${at})`,
    );
    const setting = await test.database.prisma.setting.update({
      where: { name: 'zone' },
      data: { updatedAt: at },
    });
    expect(setting.updatedAt).toEqual(at);
    const [row] = await test.database.query(
      sql`select updated_at = ${at} as same from settings where name = 'zone'`,
    );
    expect(row).toEqual({ same: true });
  });
});

/** How another server compares text is its own business. */
const onEmbedded = process.env.TEST_DATABASE_URL === undefined ? it : it.skip;

onEmbedded(
  'knows that the embedded server (skipped on that of TEST_DATABASE_URL) compares text byte by byte',
  () => {
    expect(test.database.isByteOrdered).toBe(true);
  },
);
