import { expect, it } from '@jest/globals';
import { KEPT_TABLES, LEFT_OUT_TABLES } from '../../../src/services/backup/kept-tables.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';

const test = useTestDatabase();

it('says of every table of the database whether a backup keeps it', async () => {
  const tables = await test.database.query<{ name: string }>(sql`
    select c.relname as name
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace
      and c.relkind in ('r', 'p')
      and not c.relispartition
    order by name`);
  const decided = [...KEPT_TABLES.map(({ name }) => name), ...LEFT_OUT_TABLES.keys()];
  expect(decided.sort()).toEqual(tables.map(({ name }) => name).sort());
});
