/** Builds `platform.db` from the services of the gateway. */

import { PlatformDb } from '../../services/scripting/platform/db/platform-db.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Database } from '../../store/database/database.js';
import { Pipelines } from '../../store/mongo/pipelines.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';

export function openDb(services: {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly store: RecordStore;
  readonly config: Pick<Config, 'maxResultRecords'>;
}): PlatformDb {
  const { database, catalog, store, config } = services;
  const pipelines = new Pipelines({ database, catalog, store });
  return new PlatformDb({ catalog, store, pipelines, maxResultRecords: config.maxResultRecords });
}
