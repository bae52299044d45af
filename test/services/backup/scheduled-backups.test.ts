import { readdir, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ScheduledBackups,
  type ScheduledBackupsOptions,
} from '../../../src/services/backup/scheduled-backups.js';
import { S3Blobs } from '../../../src/services/files/s3-blobs.js';
import { JobQueue } from '../../../src/services/jobs/job-queue.js';
import { useTestDatabase } from '../../database.js';
import { type S3Server, startS3Server } from '../files/s3-server.js';
import { useFolder, verify } from './backups.js';

const test = useTestDatabase();
const folder = useFolder();
const { signal } = new AbortController();
let s3: S3Server;
let now = new Date('2026-11-22T20:30:00Z');

beforeAll(async () => {
  s3 = await startS3Server();
});

afterAll(() => s3.close());

beforeEach(async () => {
  now = new Date('2026-11-22T20:30:00Z');
  s3.objects.clear();
  s3.state = 'up';
  await test.database.pool.query(`delete from settings where name = 'backups'`);
});

function backupsWith(
  settings: Partial<ScheduledBackupsOptions['settings']>,
  openBucket: ScheduledBackupsOptions['openBucket'] = async () => undefined,
): ScheduledBackups {
  return new ScheduledBackups({
    database: test.database,
    jobs: new JobQueue(test),
    openBucket,
    settings: { backupKeep: 3, databaseUrl: test.database.url, dataDirectory: '', ...settings },
    now: () => now,
  });
}

const openBucket = () =>
  S3Blobs.open({ url: s3.url, region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret' });

async function makeDaily(backups: ScheduledBackups, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    now = new Date(Date.UTC(2026, 10, 22 + day, 20, 30));
    await backups.make(signal);
  }
}

describe('scheduled backups', () => {
  it('are kept in a folder, the newest of them, each of them whole', async () => {
    const directory = folder.file('kept');
    await makeDaily(backupsWith({ backupDirectory: directory }), 5);
    const names = (await readdir(directory)).sort();
    expect(names).toEqual([
      'campus-2026-11-24T20-30-00Z.campus',
      'campus-2026-11-25T20-30-00Z.campus',
      'campus-2026-11-26T20-30-00Z.campus',
    ]);
    for (const name of names) await verify(`${directory}/${name}`);
  });

  it('leave other files of the folder alone, but for what a killed gateway has left', async () => {
    const directory = folder.file('shared');
    const backups = backupsWith({ backupDirectory: directory });
    await backups.make(signal);
    await writeFile(`${directory}/notes.txt`, 'ours');
    await writeFile(`${directory}/campus-2020-01-01.campus`, 'made by hand');
    await writeFile(`${directory}/campus-2026-11-21T20-30-00Z.campus.123.partial`, 'half');
    now = new Date('2026-11-23T20:30:00Z');
    await backups.make(signal);
    expect((await readdir(directory)).sort()).toEqual([
      'campus-2020-01-01.campus',
      'campus-2026-11-22T20-30-00Z.campus',
      'campus-2026-11-23T20-30-00Z.campus',
      'notes.txt',
    ]);
  });

  it('outlive those that a clock that was ahead has dated', async () => {
    const directory = folder.file('ahead');
    const backups = backupsWith({ backupDirectory: directory });
    await makeDaily(backups, 3);
    now = new Date('2026-11-21T20:30:00Z');
    await backups.make(signal);
    expect(await backups.ageSeconds()).toBe(0);
    expect(await readdir(directory)).toContain('campus-2026-11-21T20-30-00Z.campus');
  });

  it('are kept in the bucket where there is no folder', async () => {
    await makeDaily(backupsWith({}, openBucket), 4);
    expect([...s3.objects.keys()].sort()).toEqual([
      'backups/campus-2026-11-23T20-30-00Z.campus',
      'backups/campus-2026-11-24T20-30-00Z.campus',
      'backups/campus-2026-11-25T20-30-00Z.campus',
    ]);
    const [object] = s3.objects.values();
    const file = folder.file('fetched.campus');
    await writeFile(file, object ?? '');
    expect((await verify(file)).tables.length).toBeGreaterThan(0);
  });

  it('are encrypted when a passphrase is set', async () => {
    const directory = folder.file('sealed');
    const settings = { backupDirectory: directory, backupPassphrase: 'correct horse battery' };
    await backupsWith(settings).make(signal);
    const [name] = await readdir(directory);
    await expect(verify(`${directory}/${name}`)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });

  it.each([
    ['a folder', undefined],
    ['a bucket', openBucket],
  ] as const)('are verified in %s, and what is wrong with one is kept', async (_place, bucket) => {
    const backupDirectory = bucket === undefined ? folder.file('verified') : undefined;
    const settings = { backupDirectory, backupPassphrase: 'correct horse battery' };
    const backups = backupsWith(settings, bucket);
    await backups.make(signal);
    const [made] = await backups.list();
    const name = made?.name ?? '';
    const findings = async (verifier: ScheduledBackups) => {
      await verifier.verify(name, signal);
      const [{ verifiedAt, fault } = { verifiedAt: undefined, fault: undefined }] = await verifier.list();
      return [verifiedAt, fault];
    };
    const at = now.toISOString();
    expect(await findings(backups)).toEqual([at, undefined]);
    const without = backupsWith({ backupDirectory }, bucket);
    expect(await findings(without)).toEqual([at, expect.stringContaining('neither BACKUP_PASSPHRASE nor')]);
    const stored =
      bucket === undefined ? await readFile(`${backupDirectory}/${name}`) : s3.objects.get(`backups/${name}`);
    stored?.fill(0, 2_000, 2_100);
    if (stored !== undefined && backupDirectory !== undefined)
      await writeFile(`${backupDirectory}/${name}`, stored);
    expect(await findings(backups)).toEqual([at, expect.any(String)]);
    await expect(backups.verify('none', signal)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are kept beside an embedded database where no place is set', async () => {
    const dataDirectory = folder.file('data');
    await backupsWith({ databaseUrl: undefined, dataDirectory }).make(signal);
    expect(await readdir(`${dataDirectory}/backups`)).toHaveLength(1);
  });

  it('are said to be scheduled before there is one', () => {
    expect(backupsWith({}).isScheduled).toBe(false);
    expect(backupsWith({ backupSchedule: '30 20 * * *' }).isScheduled).toBe(true);
  });

  it('say how old the last one is', async () => {
    const backups = backupsWith({ backupDirectory: folder.file('aged') });
    expect(await backups.ageSeconds()).toBeUndefined();
    await backups.make(signal);
    now = new Date('2026-11-22T21:30:00Z');
    expect(await backups.ageSeconds()).toBe(3_600);
  });

  it('fail, and remove nothing, where there is no place for them', async () => {
    await expect(backupsWith({}).make(signal)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const backups = backupsWith({ backupKeep: 1 }, openBucket);
    await backups.make(signal);
    s3.state = 'down';
    now = new Date('2026-11-23T20:30:00Z');
    await expect(backups.make(signal)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([...s3.objects.keys()]).toEqual(['backups/campus-2026-11-22T20-30-00Z.campus']);
    expect(await backups.ageSeconds()).toBe(24 * 3_600);
  });
});
