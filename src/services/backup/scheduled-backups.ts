import path from 'node:path';
import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import { defined } from '../../base/json/json.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Database } from '../../store/database/database.js';
import type { Bucket } from '../files/blob-store.js';
import type { JobFailure, JobQueue } from '../jobs/job-queue.js';
import { createBackup } from './backup.js';
import type { BackupSettings } from './backup-settings.js';
import { openArchive, streamBytes } from './open-archive.js';
import { type BackupPlace, backupName, bucketPlace, folderPlace } from './save-backup.js';
import { backupSecretOfSettings, isSealed, seal, unseal } from './seal.js';

export interface ScheduledBackupsOptions {
  readonly database: Pick<Database, 'prisma' | 'url'>;
  readonly jobs: Pick<JobQueue, 'add' | 'isBusy' | 'lastFailure'>;
  readonly openBucket: () => Promise<Bucket | undefined>;
  readonly settings: BackupSettings & {
    readonly databaseUrl?: string | undefined;
    readonly dataDirectory: string;
  };
  readonly now: () => Date;
}

/** The setting under which all gateways share the state of scheduled backups. */
const SETTING = 'backups';

/** The task that makes a backup, and the one that verifies `{ name }`. */
export const BACKUP_TASK = 'backups.make';
export const VERIFY_TASK = 'backups.verify';

/** The queue of both, in which the clock starts backups too: one job runs after the other. */
const BACKUP_QUEUE = 'cron back up';

/** A backup that is kept. */
const Note = z.object({
  name: z.string(),
  at: z.iso.datetime(),
  bytes: z.number(),
  /** When all of it was last read and compared. */
  verifiedAt: z.iso.datetime().optional(),
  /** The fault that the last verification found; absent if none. */
  fault: z.string().optional(),
});
type Note = z.output<typeof Note>;

/**
 * The backups that the gateway makes: on a schedule, or at the request of an admin. Each is a job of the
 * queue, so that only one of several gateways makes it.
 */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions;

  constructor(options: ScheduledBackupsOptions) {
    this.#options = options;
  }

  /**
   * Makes a backup of the instance, records it, and removes the oldest beyond the number to keep. Calls must
   * not overlap.
   *
   * @throws UNAVAILABLE if no place is set, or the place is full
   */
  async make(signal: AbortSignal): Promise<void> {
    const { database, settings, now } = this.#options;
    await using place = await this.#openPlace();
    const { bucket } = place;
    const secret = await backupSecretOfSettings(settings);
    const at = now();
    const backup = createBackup({ url: database.url, bucket, signal });
    const name = backupName(at);
    const bytes = await place.write(name, secret ? seal(backup.bytes, secret) : backup.bytes, signal);
    const notes = [...(await this.#notes()), { name, at: at.toISOString(), bytes }];
    await this.#note(notes);
    const stored = await place.list(notes.map((note) => note.name));
    // A name later than this one is of a clock that was ahead, and counts as the oldest.
    const age = (one: string) => (one > name ? `-${one}` : one);
    const names = [...stored].sort((one, other) => (age(one) < age(other) ? -1 : 1));
    const old = names.slice(0, Math.max(0, names.length - settings.backupKeep));
    for (const one of old) await place.remove(one);
    await this.#note(notes.filter((note) => !old.includes(note.name)).slice(-settings.backupKeep));
  }

  /** Has a backup made soon. @throws UNAVAILABLE if no place is set */
  async request(): Promise<void> {
    await using _place = await this.#openPlace();
    await this.#options.jobs.add(BACKUP_TASK, {}, { queue: BACKUP_QUEUE, key: BACKUP_TASK, maxAttempts: 1 });
  }

  /** Has a backup verified soon. @throws NOT_FOUND */
  async requestVerification(name: string): Promise<void> {
    await this.#noteOf(name);
    const key = `${VERIFY_TASK} ${name}`;
    await this.#options.jobs.add(VERIFY_TASK, { name }, { queue: BACKUP_QUEUE, key, maxAttempts: 1 });
  }

  /** Reads all of a backup, and keeps what was found. */
  async verify(name: string, signal: AbortSignal): Promise<void> {
    const { bytes } = await this.#noteOf(name);
    const fault = await this.#faultOf(name, bytes, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return error instanceof ServiceError ? error.message : 'It cannot be read.';
    });
    const found = { verifiedAt: this.#options.now().toISOString(), fault };
    const notes = await this.#notes();
    await this.#note(notes.map((note) => (note.name === name ? defined({ ...note, ...found }) : note)));
  }

  /** @throws ServiceError with the fault of the backup */
  async #faultOf(name: string, bytes: number, signal: AbortSignal): Promise<undefined> {
    await using place = await this.#openPlace();
    await using stored = await place.open(name, bytes);
    if (!(await isSealed(stored))) return void (await openArchive(stored, { signal }));
    const secret = await backupSecretOfSettings(this.#options.settings);
    if (secret === undefined) {
      const reason = 'It is encrypted, and neither BACKUP_PASSPHRASE nor BACKUP_KEY_FILE is set.';
      throw new ServiceError('INVALID_VALUE', reason);
    }
    await openArchive(await unseal(stored, secret), { signal });
  }

  /** The bytes of a backup, as they are stored. @throws NOT_FOUND */
  async read(name: string): Promise<(signal: EndSignal) => AsyncGenerator<Buffer, void>> {
    const { bytes } = await this.#noteOf(name);
    const openPlace = () => this.#openPlace();
    return async function* (signal) {
      await using place = await openPlace();
      await using stored = await place.open(name, bytes);
      for await (const piece of streamBytes(stored, 0, bytes)) {
        signal.throwIfAborted();
        yield piece;
      }
    };
  }

  /** Those that are kept, the newest first. */
  async list(): Promise<readonly Note[]> {
    return (await this.#notes()).toReversed();
  }

  /** Whether a backup is being made or verified, or a job for that is queued. */
  async isBusy(): Promise<boolean> {
    return await this.#options.jobs.isBusy(BACKUP_QUEUE);
  }

  /** Why no backup was made since the newest one; `undefined` if none failed. */
  async failure(): Promise<JobFailure | undefined> {
    const failure = await this.#options.jobs.lastFailure(BACKUP_TASK);
    const last = (await this.#notes()).at(-1);
    return failure && last && new Date(last.at) > failure.at ? undefined : failure;
  }

  /** Whether backups are scheduled. */
  get isScheduled(): boolean {
    return this.#options.settings.backupSchedule !== undefined;
  }

  /** The time since the last scheduled backup began; `undefined` before the first one. */
  async ageSeconds(): Promise<number | undefined> {
    const now = this.#options.now().getTime();
    // One of a later time was made by a clock that was ahead.
    const last = (await this.#notes()).findLast(({ at }) => Date.parse(at) <= now);
    return last && (now - Date.parse(last.at)) / 1000;
  }

  /** @throws UNAVAILABLE if no place is set */
  async #openPlace(): Promise<BackupPlace & AsyncDisposable & { readonly bucket: Bucket | undefined }> {
    const bucket = await this.#options.openBucket();
    const place = placeOf(this.#options.settings, bucket);
    return { ...place, bucket, [Symbol.asyncDispose]: async () => await bucket?.close() };
  }

  async #noteOf(name: string): Promise<Note> {
    const note = (await this.#notes()).find((one) => one.name === name);
    if (note !== undefined) return note;
    throw new ServiceError('NOT_FOUND', `There is no backup ${JSON.stringify(name)}.`);
  }

  async #notes(): Promise<readonly Note[]> {
    const setting = await this.#options.database.prisma.setting.findUnique({ where: { name: SETTING } });
    return setting === null ? [] : z.array(Note).parse(setting.value);
  }

  async #note(value: Note[]): Promise<void> {
    await this.#options.database.prisma.setting.upsert({
      where: { name: SETTING },
      create: { name: SETTING, value },
      update: { value },
    });
  }
}

function placeOf(
  { backupDirectory, databaseUrl, dataDirectory }: ScheduledBackupsOptions['settings'],
  bucket: Bucket | undefined,
): BackupPlace {
  if (backupDirectory !== undefined) return folderPlace(backupDirectory);
  if (bucket !== undefined) return bucketPlace(bucket);
  if (databaseUrl === undefined) return folderPlace(path.join(dataDirectory, 'backups'));
  throw new ServiceError(
    'UNAVAILABLE',
    'There is no place for backups: set BACKUP_DIRECTORY, or FILES_S3_URL for a bucket.',
  );
}
