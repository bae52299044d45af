/** Each realistic pipeline is one statement, and runs. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DECLARATIONS } from '../../../src/gateway/compose/services.js';
import { Catalog } from '../../../src/store/catalog/catalog.js';
import { parseMongoPipeline } from '../../../src/store/mongo/mongo-pipeline.js';
import { Pipelines } from '../../../src/store/mongo/pipelines.js';
import { RecordStore } from '../../../src/store/record-store.js';
import { useTestDatabase } from '../../database.js';
import { declaredTemplate } from '../../declared-template.js';
import { ADMIN, TOP } from '../people.js';
import { REALISTIC_PIPELINES } from './realistic-pipelines.js';

const test = useTestDatabase({ template: declaredTemplate });
let catalog: Catalog;
let pipelines: Pipelines;

beforeAll(async () => {
  const { database } = test;
  catalog = await Catalog.load({ database, directory: DECLARATIONS, domains: () => [TOP] });
  const store = new RecordStore({ database, catalog, topDomain: () => TOP });
  pipelines = new Pipelines({ database, catalog, store });
});

afterAll(async () => {
  await catalog.close();
});

describe('thirty realistic pipelines', () => {
  it('are thirty', () => {
    expect(REALISTIC_PIPELINES).toHaveLength(30);
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
