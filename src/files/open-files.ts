import type { Config } from '../config.js';
import type { Catalog } from '../store/catalog.js';
import type { Database } from '../store/database/database.js';
import type { RecordStore } from '../store/record-store.js';
import { DatabaseBlobs } from './database-blobs.js';
import { Files } from './files.js';
import { S3Blobs } from './s3-blobs.js';

/** The files as the settings want them kept. The caller closes them. @throws UNAVAILABLE for a bucket that cannot be */
export async function openFiles(o: {
  readonly database: Database;
  readonly store: RecordStore;
  readonly catalog: Catalog;
  readonly config: Config;
}): Promise<Files> {
  const { database, store, catalog, config } = o;
  const inDatabase = new DatabaseBlobs(database);
  const inBucket =
    config.filesS3Url === undefined
      ? undefined
      : await S3Blobs.open({
          url: config.filesS3Url,
          region: config.filesS3Region,
          accessKeyId: config.filesS3AccessKeyId,
          secretAccessKey: config.filesS3SecretAccessKey,
        });
  return new Files({
    database,
    store,
    catalog,
    blobs: inBucket ? [inBucket, inDatabase] : [inDatabase],
    limits: {
      maxBytes: config.fileMaxBytes,
      quotaBytes: config.filesQuotaBytes,
      uploadRoles: config.fileRoles,
    },
  });
}
