import { z } from 'zod';
import { ServiceError } from '../../base/errors.js';
import type { Database } from '../../store/database/database.js';
import type { Bucket } from '../files/blob-store.js';
import { createBackup } from './backup.js';
import type { BackupSettings } from './backup-settings.js';
import { type BackupPlace, backupName, bucketPlace, folderPlace } from './save-backup.js';
import { backupSecretOfSettings, seal } from './seal.js';

export interface ScheduledBackupsOptions {
  readonly database: Pick<Database, 'prisma' | 'url'>;
  readonly openBucket: () => Promise<Bucket | undefined>;
  readonly settings: BackupSettings;
  readonly now: () => Date;
}

/** The setting under which all gateways share the state of scheduled backups. */
const SETTING = 'backups';

const Note = z.object({ name: z.string(), at: z.iso.datetime(), bytes: z.number() });
type Note = z.output<typeof Note>;

/**
 * Scheduled backups. Each is a job of the queue, so that only one of several gateways makes it.
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
    const bucket = await this.#options.openBucket();
    try {
      const place = placeOf(settings.backupDirectory, bucket);
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
    } finally {
      await bucket?.close();
    }
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

function placeOf(folder: string | undefined, bucket: Bucket | undefined): BackupPlace {
  if (folder !== undefined) return folderPlace(folder);
  if (bucket !== undefined) return bucketPlace(bucket);
  throw new ServiceError(
    'UNAVAILABLE',
    'BACKUP_SCHEDULE needs a place for the backups: BACKUP_DIRECTORY, or the bucket of FILES_S3_URL.',
  );
}
