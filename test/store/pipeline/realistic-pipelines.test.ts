/** How much of each realistic pipeline runs in the database, reviewed as a snapshot; and that each runs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DECLARATIONS } from '../../../src/compose/services.js';
import { parseMongoPipeline } from '../../../src/languages/mongo/mongo-pipeline.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { Pipelines } from '../../../src/store/pipeline/pipelines.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { useTestDatabase } from '../../database.js';
import { ADMIN, TOP } from '../people.js';
import { REALISTIC_PIPELINES } from './realistic-pipelines.js';

const test = useTestDatabase();
let catalog: Catalog;
let pipelines: Pipelines;

beforeAll(async () => {
  const { database } = test;
  catalog = await Catalog.load({ database, directory: DECLARATIONS, topDomain: () => TOP });
  const store = new RecordStore({ database, catalog, topDomain: () => TOP });
  pipelines = new Pipelines({ database, catalog, store, memoryBytes: 1_000_000, timeoutMs: 5_000 });
}, 60_000);

afterAll(async () => {
  await catalog.close();
});

describe('thirty realistic pipelines', () => {
  it('are thirty', () => {
    expect(REALISTIC_PIPELINES).toHaveLength(30);
  });

  it('run so far in the database', () => {
    const shares = REALISTIC_PIPELINES.map(({ name, collection, stages }) => {
      const plan = pipelines.plan(ADMIN, { collection, stages: parseMongoPipeline([...stages]) });
      const inMemory = plan.inMemory.map((stage) => stage.name);
      const rest = inMemory.length === 0 ? '' : `; in memory ${inMemory.join(', ')}`;
      return `${name}: ${plan.inSql.length} of ${plan.inSql.length + inMemory.length}${rest}`;
    });
    expect(shares).toMatchSnapshot();
  });

  for (const { name, collection, stages } of REALISTIC_PIPELINES) {
    it(`runs: ${name}`, async () => {
      let count = 0;
      const run = pipelines.run(ADMIN, { collection, stages: parseMongoPipeline([...stages]) });
      for await (const batch of run) count += batch.length;
      expect(count).toBeLessThanOrEqual(1);
    });
  }
});
