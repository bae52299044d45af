/** The outbox as one part, as it is where the servers of Citus are reached through the coordinator alone. */
import { describe, expect, it } from '@jest/globals';
import { OutboxPart } from '../../../src/store/changes/change-outbox.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();

async function leave(domain: string, id: number): Promise<void> {
  await test.database.query(sql`
    insert into change_outbox (id, at, domain, collection, record_id, operation, to_version, principal)
    values (${id}, now(), ${domain}, 'task', 'one', 'update', ${id}, 'usr-clerk')`);
}

async function left(): Promise<readonly string[]> {
  const rows = await test.database.query<{ entry: string }>(sql`
    select domain || ' ' || id::text as entry from change_outbox order by 1`);
  return rows.map(({ entry }) => entry);
}

describe('a part of the outbox', () => {
  it('is read lowest versions first, and rid of what was read, of that domain alone', async () => {
    const part = new OutboxPart('all', test.database, ['change_outbox']);
    expect(await part.isEmpty()).toBe(true);
    expect(await part.readPage(10)).toBeUndefined();
    for (const [domain, id] of [
      ['south', 2],
      ['north', 1],
      ['south', 1],
      ['north', 3],
    ] as const)
      await leave(domain, id);
    const page = await part.readPage(10);
    expect(page).toMatchObject({ count: 4, id: '{1,1,2,3}', to_version: '{1,1,2,3}' });
    await part.remove({ id: '{1,3}', domain: '{north,north}' });
    expect(await left()).toEqual(['south 1', 'south 2']);
    expect(await part.isEmpty()).toBe(false);
    const rest = await part.readPage(10);
    if (rest !== undefined) await part.remove(rest);
    expect(await part.isEmpty()).toBe(true);
  });
});
