import { DatabaseBlobs } from '../../services/files/database-blobs.js';
import { Files } from '../../services/files/files.js';
import { S3Blobs } from '../../services/files/s3-blobs.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';

/**
 * Opens the files in the storage that the settings name. The caller closes them.
 *
 * @throws UNAVAILABLE if the bucket cannot be used
 */
export async function openFiles(options: {
  readonly database: Database;
  readonly store: RecordStore;
  readonly config: Config;
}): Promise<Files> {
  const { database, store, config } = options;
  const inDatabase = new DatabaseBlobs(database);
  const inBucket = await openBucket(config);
  return new Files({
    database,
    store,
    blobs: inBucket ? [inBucket, inDatabase] : [inDatabase],
    limits: {
      maxBytes: config.fileMaxBytes,
      quotaBytes: config.filesQuotaBytes,
      uploadRoles: config.fileRoles,
      openUploads: config.fileUploadsOpen,
      uploadHours: config.fileUploadHours,
    },
  });
}

/** The bucket of the settings; `undefined` if there is none. The caller closes it. @throws UNAVAILABLE */
export async function openBucket(config: Config): Promise<S3Blobs | undefined> {
  if (config.filesS3Url === undefined) return undefined;
  return await S3Blobs.open({
    url: config.filesS3Url,
    region: config.filesS3Region,
    accessKeyId: config.filesS3AccessKeyId,
    secretAccessKey: config.filesS3SecretAccessKey,
  });
}
