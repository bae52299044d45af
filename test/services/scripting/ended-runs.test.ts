/** What a run that is ended leaves behind: nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { HostBinding } from '../../../src/services/scripting/platform/host-binding.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { useRunner } from './runner.js';

const test = useTestDatabase();

const insert = (name: string) => sql`insert into marks (name) values (${name})`;

const BINDINGS: readonly HostBinding[] = [
  {
    name: 'read',
    kind: 'function',
    returns: 'value',
    call: async ({ signal }) => {
      await test.database.query(sql`select 'a script reads', pg_sleep(20)::text`, { signal });
      return 'read';
    },
  },
  {
    name: 'write',
    kind: 'function',
    returns: 'value',
    call: async ({ transaction }, [name]) =>
      await transaction(async (within) => {
        await within.query(insert(String(name)));
        return 'written';
      }),
  },
  {
    name: 'writeSlowly',
    kind: 'function',
    returns: 'value',
    call: async ({ transaction }, [name]) =>
      await transaction(async (within) => {
        await within.query(insert(String(name)));
        await within.query(sql`select 'a script writes', pg_sleep(20)::text`);
        return 'written';
      }),
  },
  {
    name: 'writeAndFail',
    kind: 'function',
    returns: 'value',
    call: async ({ transaction }, [name]) =>
      await transaction(async (within) => {
        await within.query(insert(String(name)));
        await within.query(insert(String(name)));
        return 'written';
      }),
  },
];

const scripts = useRunner({
  database: { transaction: (work) => test.database.transaction(work) },
  bindings: BINDINGS,
  limits: { wallTimeMs: 5_000 },
});

beforeAll(async () => {
  await test.database.query(sql`create table marks (name text primary key)`);
});

async function marks(): Promise<readonly string[]> {
  const rows = await test.database.query<{ name: string }>(sql`select name from marks order by name`);
  return rows.map((row) => row.name);
}

/** Statements of scripts that Postgres still works on. */
async function statements(): Promise<number> {
  const rows = await test.database.query(
    sql`select 1 from pg_stat_activity where state = 'active' and query like 'select ''a script%'`,
  );
  return rows.length;
}

describe('a run that is ended', () => {
  it('takes its statement with it when it is out of time', async () => {
    const result = await scripts.run('platform.read();');
    expect(result.error).toMatchObject({ limit: 'wallTime' });
    expect(await statements()).toBe(0);
  });

  it('takes its transaction back when it is out of time', async () => {
    const result = await scripts.run('platform.write("kept"); platform.writeSlowly("taken back");');
    expect(result.error).toMatchObject({ limit: 'wallTime' });
    expect(await marks()).toEqual(['kept']);
    expect(await statements()).toBe(0);
  });

  it('takes both when its caller goes', async () => {
    const caller = new AbortController();
    setTimeout(() => caller.abort(), 300);
    const result = await scripts.run('platform.writeSlowly("taken back");', { signal: caller.signal });
    expect(result.error).toMatchObject({ name: 'AbortError' });
    expect(await marks()).toEqual(['kept']);
    expect(await statements()).toBe(0);
  });

  it('leaves the transaction it is part of to its caller, with nothing half done in it', async () => {
    const result = await test.database.transaction(async (within) => {
      const run = await scripts.run(
        'try { platform.writeAndFail("twice") } catch {} platform.write("in the trigger"); ' +
          'platform.writeSlowly("slow");',
        { within },
      );
      await within.query(insert('after the script'));
      return run;
    });
    expect(result.error).toMatchObject({ limit: 'wallTime' });
    expect(await marks()).toEqual(['after the script', 'in the trigger', 'kept']);
  });

  it('is part of the transaction of its caller', async () => {
    const taken = test.database.transaction(async (within) => {
      await scripts.run('platform.write("gone with its caller");', { within });
      throw new Error('no');
    });
    await expect(taken).rejects.toThrow('no');
    expect(await marks()).not.toContain('gone with its caller');
  });

  it('leaves the pool of connections as it was', async () => {
    const caller = new AbortController();
    const runs = Array.from({ length: 4 }, () => scripts.run('platform.read();', { signal: caller.signal }));
    await sleep(400);
    caller.abort();
    await Promise.all(runs);
    expect(test.database.pool.idleCount).toBe(test.database.pool.totalCount);
    expect(test.database.pool.waitingCount).toBe(0);
  });
});
