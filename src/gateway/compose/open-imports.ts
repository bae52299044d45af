/** Wires the imports: the service that callers use, and the runner that does the work. */
import type { Principals } from '../../services/auth/principals.js';
import type { Files } from '../../services/files/files.js';
import { ImportNews } from '../../services/importing/import-news.js';
import { ImportRights, scopeOfImport } from '../../services/importing/import-rights.js';
import { ImportRunner } from '../../services/importing/import-runner.js';
import { removeAbandonedFolders } from '../../services/importing/import-source.js';
import { Imports } from '../../services/importing/imports.js';
import type { StoredImport } from '../../services/importing/stored-import.js';
import type { JobQueue } from '../../services/jobs/job-queue.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';

export const IMPORT_TASK = 'imports.run';
/** Spread over some hours, so that an import survives an outage of the database. */
const ATTEMPTS = 15;
/** How soon a waiting import checks whether the one before it has ended. */
const WAIT_MS = 1_000;

export interface Importing {
  readonly imports: Imports;
  readonly importNews: ImportNews;
  readonly importRunner: ImportRunner;
  /** Queues a job that continues an import, now or once earlier imports are done. */
  scheduleImport(id: string, when: 'now' | 'later'): Promise<void>;
  /** Stops announcing the progress of imports. */
  close(): Promise<void>;
}

export async function openImports(services: {
  readonly database: Database;
  readonly domains: Domains;
  readonly catalog: Catalog;
  readonly store: RecordStore;
  readonly files: Files;
  readonly jobs: JobQueue;
  readonly principals: Principals;
  readonly config: Config;
  readonly onFault: (error: unknown) => void;
}): Promise<Importing> {
  const { jobs, config } = services;
  await removeAbandonedFolders();
  const scheduleImport = async (id: string, when: 'now' | 'later') => {
    const delayMs = when === 'now' ? 0 : WAIT_MS;
    await jobs.add(IMPORT_TASK, { id }, { key: `import:${id}`, maxAttempts: ATTEMPTS, delayMs });
  };
  const rights = new ImportRights({ ...services, roles: config.importRoles });
  const imports = new Imports({
    ...services,
    rights,
    maxBytes: config.importMaxBytes,
    schedule: (id) => scheduleImport(id, 'now'),
  });
  const scopeOf = (one: StoredImport) => scopeOfImport(one, { ...services, rights });
  const importRunner = new ImportRunner({
    ...services,
    scopeOf,
    maxRecordsPerWrite: config.maxRecordsPerWrite,
  });
  const importNews = await ImportNews.open(services);
  return { imports, importNews, importRunner, scheduleImport, close: () => importNews.close() };
}
