import { describe, expect, it } from '@jest/globals';
import type { Field } from '../../../src/base/model/collection.js';
import { findConstraint } from '../../../src/store/database/database-errors.js';
import { listDeclaredIndexes } from '../../../src/store/database/declared-indexes.js';
import { ensurePartition, partitionName } from '../../../src/store/database/partitions.js';
import { sql } from '../../../src/store/sql.js';
import { useTestDatabase } from '../../database.js';
import { isTestedOnCitus } from '../../spread-databases.js';

const test = useTestDatabase();
/** On Citus, a transaction that has read through the coordinator holds the partitions of all collections. */
const onOneServer = isTestedOnCitus() ? it.skip : it;

function field(name: string, type: Field['type'], traits: Partial<Field> = {}): Field {
  return {
    name,
    type,
    description: '',
    isList: false,
    isRequired: false,
    isUnique: false,
    isIndexed: false,
    isSearchable: false,
    isRight: false,
    allowed: undefined,
    bounds: undefined,
    default: undefined,
    isDecimal: false,
    format: undefined,
    targets: [],
    mustExist: true,
    onDelete: 'refuse',
    filledFrom: undefined,
    fields: [],
    example: undefined,
    unit: undefined,
    deprecated: undefined,
    ...traits,
  };
}

function collection(name: string, fields: readonly Field[] = [], rules: readonly string[] = []) {
  const uniqueTogether = rules.map((rule) => ({ name: rule, parts: [], unless: [] }));
  return { name, fields, indexes: [], uniqueTogether };
}

async function insert(name: string, data: object, id: string): Promise<void> {
  await test.database.query(sql`
    insert into records (domain, collection, id, data) values ('d', ${name}, ${id},
      ${JSON.stringify(data)}::jsonb)`);
}

describe('the indexes of a collection', () => {
  it('follow from its declaration', () => {
    const declared = collection(
      'receipt',
      [
        field('number', 'text', { isUnique: true, isSearchable: true }),
        field('student', 'reference', { isIndexed: true, isSearchable: true }),
        field('roles', 'text', { isList: true, isIndexed: true }),
        field('bank', 'object', { fields: [field('cheque', 'text', { isIndexed: true })] }),
        field('note', 'text'),
      ],
      ['once_a_day'],
    );
    expect(listDeclaredIndexes(declared).map((index) => index.definition)).toEqual([
      'using gin (data jsonb_path_ops) where deleted_at is null',
      `(domain, (data->'number')) where deleted_at is null and (data->'number') <> 'null'`,
      `(domain, (data->'number')) where deleted_at is null`,
      `using gin ((data->>'number') gin_trgm_ops) where deleted_at is null`,
      `(domain, (data->'student'->'value')) where deleted_at is null`,
      `using gin ((data->'student'->>'value') gin_trgm_ops) where deleted_at is null`,
      `using gin ((data->'student'->>'label') gin_trgm_ops) where deleted_at is null`,
      `(domain, (data->'bank'->'cheque')) where deleted_at is null`,
      `(domain, (keys->>'once_a_day')) where deleted_at is null`,
    ]);
  });

  it('have names of their own, within 63 characters, the same each time', () => {
    const long = 'x'.repeat(40);
    const indexes = listDeclaredIndexes(
      collection(
        long,
        ['a', 'b'].map((last) => field(`${'f'.repeat(50)}${last}`, 'text', { isUnique: true })),
      ),
    );
    const names = indexes.map((index) => index.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
    expect(partitionName('task')).toBe('records_task');
    expect(partitionName('default')).not.toBe('records_default');
  });
});

describe('ensurePartition', () => {
  it('makes the partition with its indexes once', async () => {
    const declared = collection('visit', [field('day', 'text', { isIndexed: true })]);
    const first = await ensurePartition(test.database, declared);
    expect(first).toMatchObject({ isCreated: true, undeclaredIndexes: [] });
    expect(first.builtIndexes).toHaveLength(2);
    await expect(ensurePartition(test.database, declared)).resolves.toEqual({
      isCreated: false,
      builtIndexes: [],
      undeclaredIndexes: [],
    });
  });

  it('makes an empty partition with everything it needs in one transaction', async () => {
    await ensurePartition(test.database, collection('whole', [field('day', 'text', { isIndexed: true })]));
    const made = await test.database.query<{ kind: string; transaction: string }>(sql`
      select distinct 'table or index' as kind, xmin::text as transaction
        from pg_class where relname ~ '^(records_)?whole'
       union all
      select 'statistics', xmin::text from pg_statistic_ext where stxname like 'whole%'
       order by kind`);
    expect(made.map(({ kind }) => kind)).toEqual(['statistics', 'table or index']);
    expect(new Set(made.map(({ transaction }) => transaction)).size).toBe(1);
  });

  it('leaves nothing of a partition whose index cannot be made', async () => {
    const declared = collection('taken', [field('day', 'text', { isIndexed: true })]);
    const [, taken] = listDeclaredIndexes(declared);
    const name = sql.raw(`"${taken?.name}"`);
    await test.database.query(sql`create table ${name} (a int)`);
    await expect(ensurePartition(test.database, declared)).rejects.toThrow('already exists');
    await test.database.query(sql`drop table ${name}`);
    await expect(ensurePartition(test.database, declared)).resolves.toMatchObject({ isCreated: true });
  });

  it('may be called by several gateways at once', async () => {
    const declared = collection('crowd', [field('day', 'text', { isIndexed: true })]);
    const reports = await Promise.all([1, 2, 3].map(() => ensurePartition(test.database, declared)));
    expect(reports.filter((report) => report.isCreated)).toHaveLength(1);
  });

  it('takes the records there are along', async () => {
    await insert('moved', { a: 1 }, 'one');
    await insert('other', { a: 1 }, 'two');
    await ensurePartition(test.database, collection('moved'));
    // On Citus, the names of tables end with the number of the shard.
    await expect(
      test.database.query(sql`
        select regexp_replace(tableoid::regclass::text, '_\\d+$', '') as "table", id
          from records where domain = 'd' order by id`),
    ).resolves.toEqual([
      { table: 'records_moved', id: 'one' },
      { table: 'records_default', id: 'two' },
    ]);
  });

  onOneServer('does not wait for the readers of other collections', async () => {
    await ensurePartition(test.database, collection('busy'));
    await test.database.transaction(async (transaction) => {
      await transaction.query(sql`select id from records where domain = 'd' and collection = 'busy'`);
      await insert('busy', {}, 'written');
      await expect(ensurePartition(test.database, collection('newcomer'))).resolves.toMatchObject({
        isCreated: true,
      });
    });
  });

  it('builds and reports what changed, and drops nothing', async () => {
    await ensurePartition(test.database, collection('changed', [field('a', 'text', { isIndexed: true })]));
    await insert('changed', { b: 'x' }, 'one');
    const { builtIndexes, undeclaredIndexes } = await ensurePartition(
      test.database,
      collection('changed', [field('b', 'text', { isIndexed: true })]),
    );
    expect(builtIndexes).toEqual([expect.stringMatching(/^changed_b_idx_/)]);
    expect(undeclaredIndexes).toEqual([expect.stringMatching(/^changed_a_idx_/)]);
  });

  it('refuses a unique rule that records break, and can build it once they do not', async () => {
    await ensurePartition(test.database, collection('broken'));
    await insert('broken', { code: 'A' }, 'one');
    await insert('broken', { code: 'A' }, 'two');
    await insert('broken', { code: null }, 'three');
    await insert('broken', { code: null }, 'four');
    const declared = collection('broken', [field('code', 'text', { isUnique: true })]);
    const error = await ensurePartition(test.database, declared).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'CONFLICT' });
    expect(findConstraint(error)).toMatch(/^broken_code_key_/);
    await test.database.query(sql`delete from records where collection = 'broken' and id = 'two'`);
    const { builtIndexes } = await ensurePartition(test.database, declared);
    expect(builtIndexes).toContainEqual(expect.stringMatching(/^broken_code_key_/));
    await expect(insert('broken', { code: 'A' }, 'two')).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('lets a quote in a name do no harm', async () => {
    const declared = collection('quoted', [field(`it's`, 'text', { isIndexed: true, isSearchable: true })]);
    await expect(ensurePartition(test.database, declared)).resolves.toMatchObject({ isCreated: true });
  });
});
