/** 300,000 records: streamed in constant memory, grouped by the database. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../../src/base/json/json.js';
import { parseMongoPipeline } from '../../../../src/store/mongo/mongo-pipeline.js';
import { sql } from '../../../../src/store/sql.js';
import { LiveMemory } from '../../../live-memory.js';
import { ADMIN } from '../../../store/people.js';
import { as, read, useDb } from './db.js';

const COUNT = 300_000;
const BATCH = 30_000;
const test = useDb({
  collections: [
    {
      name: 'payment',
      fields: [
        { name: 'amount', type: 'number', decimal: true, index: true },
        { name: 'day', type: 'datetime', required: true, index: true },
        { name: 'class', type: 'text' },
      ],
    },
  ],
});

beforeAll(async () => {
  for (let from = 1; from < COUNT; from += BATCH) {
    await test.database.query(sql`
      insert into records (domain, collection, id, data)
      select 'school', 'payment', 'p' || lpad(n::text, 6, '0'),
        jsonb_build_object('amount', n % 1000 / 10.0, 'class', (n % 12)::text, 'text', repeat('x', 200),
          'day', to_char(timestamp '2026-04-01' + n * interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from generate_series(${from}::int, ${from + BATCH - 1}::int) as n`);
  }
  await test.database.query(sql`analyze records`);
});

describe('platform.db on 300,000 records', () => {
  it('streams them in constant memory', async () => {
    const { db } = test;
    const memory = new LiveMemory();
    let count = 0;
    for await (const batch of db.find(as(), 'payment', {})) {
      count += batch.length;
      if (count % 50_000 === 0) memory.look();
    }
    expect(count).toBe(COUNT);
    // All of them are some 100 MB of text.
    expect(memory.mostMib).toBeLessThan(24);
  });

  it('groups them without reading them here, exactly', async () => {
    const groups = await read(
      test.db.aggregate(as(), 'payment', [
        { $group: { _id: '$class', total: { $sum: '$amount' }, n: { $sum: 1 } } },
        { $sort: { _id: 1 } },
      ]),
    );
    expect(groups).toHaveLength(12);
    // A multiple of twelve ends in 0, 4 … 996: 49.8 on the average.
    expect(groups).toContainEqual({ _id: '0', total: 1_245_000, n: 25_000 });
  });

  for (const [name, query, index] of [
    ['a value', { amount: 5.5 }, 'amount'],
    ['a range', { day: { $gte: '2026-04-01T00:00:00.000Z', $lt: '2026-04-01T10:00:00.000Z' } }, 'day'],
    ['several values', { amount: { $in: [1, 2] } }, 'amount'],
  ] as const) {
    it(`finds ${name} of a declared field by its index`, async () => {
      expect(await planOf([{ $match: query }])).toContain(`${index}_idx`);
    });
  }

  it('looks a collection up by the index of its field', async () => {
    const lookup = { from: 'payment', localField: 'amount', foreignField: 'amount', as: 'same' };
    expect(await planOf([{ $match: { _id: 'p000001' } }, { $lookup: lookup }])).not.toContain('Seq Scan');
  });

  it('takes the first of an order by its index where the field is never missing', async () => {
    const started = Date.now();
    const [last] = await read(test.db.find(as(), 'payment', {}, { sort: { day: -1 }, limit: 1 }));
    expect(last).toMatchObject({ _id: 'p300000' });
    expect(Date.now() - started).toBeLessThan(1_000);
  });
});

async function planOf(stages: readonly JsonValue[]): Promise<string> {
  const compiled = test.pipelines.compile(ADMIN, {
    collection: 'payment',
    stages: parseMongoPipeline([...stages]),
  });
  const rows = await test.database.query<{ 'QUERY PLAN': string }>(sql`explain ${compiled}`);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
