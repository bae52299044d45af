/** The one contract of both places files are kept in. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidv7 } from 'uuid';
import type { BlobKey, BlobStore } from '../../../src/services/files/blob-store.js';
import { DatabaseBlobs } from '../../../src/services/files/database-blobs.js';
import { S3Blobs } from '../../../src/services/files/s3-blobs.js';
import { insertUploading } from '../../../src/services/files/stored-file.js';
import { openDatabase } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/sql.js';
import { createTestDatabase, useTestDatabase } from '../../database.js';
import { type S3Server, startS3Server } from './s3-server.js';

const test = useTestDatabase();
let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3Server();
});

afterAll(async () => {
  await s3.close();
});

const PLACES: [name: string, open: () => Promise<BlobStore>][] = [
  ['the database', async () => new DatabaseBlobs(test.database)],
  [
    'a bucket',
    () =>
      S3Blobs.open({ url: s3.url, region: 'us-east-1', accessKeyId: 'school', secretAccessKey: 'secret' }),
  ],
];

for (const [place, open] of PLACES) {
  describe(`files in ${place}`, () => {
    let blobs: BlobStore;
    beforeAll(async () => {
      blobs = await open();
    });
    afterAll(async () => {
      await blobs.close();
    });

    async function keep(bytes: AsyncIterable<Buffer>): Promise<BlobKey> {
      const key = { id: uuidv7(), domainId: 'top' };
      const file = {
        ...key,
        name: 'f',
        contentType: 'a/b',
        link: undefined,
        roles: [],
        createdBy: 'u',
      };
      await insertUploading(test.database, { ...file, storage: blobs.kind });
      await blobs.write(key, bytes, undefined);
      return key;
    }

    for (const size of [0, 1, 262_143, 262_144, 262_145, 1_048_576, 12_000_000]) {
      it(`come back byte for byte: ${size} of them`, async () => {
        const bytes = randomBytes(size);
        const key = await keep(inPieces(bytes, 100_003));
        if (size === 0) return;
        const read = await bytesOf(blobs, key, { start: 0, end: size - 1 });
        expect(read.equals(bytes)).toBe(true);
      });
    }

    it('come back in part', async () => {
      const bytes = randomBytes(2_000_000);
      const key = await keep(inPieces(bytes, 65_536));
      const ranges = [
        [0, 0],
        [1, 1],
        [262_143, 262_144],
        [262_144, 262_144],
        [700_000, 1_900_000],
        [1_999_999, 1_999_999],
      ] as const;
      for (const [start, end] of ranges) {
        expect((await bytesOf(blobs, key, { start, end })).equals(bytes.subarray(start, end + 1))).toBe(true);
      }
    });

    it('are gone when they are deleted, and may be deleted again', async () => {
      const key = await keep(inPieces(randomBytes(1000), 1000));
      await blobs.delete(key);
      await expect(bytesOf(blobs, key, { start: 0, end: 999 })).rejects.toThrow();
      await blobs.delete(key);
    });

    it('whose bytes fail on the way fail with that', async () => {
      async function* failing() {
        yield randomBytes(6_000_000);
        throw new Error('the caller has gone');
      }
      await expect(keep(failing())).rejects.toThrow(/the caller has gone|does not answer/);
      expect(s3.uploads.size).toBe(0);
    });
  });
}

describe('tables as they were before chunks had a domain', () => {
  it('take the bytes of a backup from then', async () => {
    const earlier = await createTestDatabase();
    const database = await openDatabase({ url: earlier.url, poolSize: 1, statementTimeoutMs: 20_000 });
    try {
      await database.query(sql`alter table file_chunks drop column domain cascade`);
      const key = { id: uuidv7(), domainId: 'top' };
      await database.query(sql`
        insert into files (id, domain, name, content_type, state, storage, created_by)
        values (${key.id}::uuid, ${key.domainId}, 'f', 'a/b', 'ready', 'database', 'u')`);
      const blobs = new DatabaseBlobs(database, { isDomainKept: false });
      await blobs.write(key, inPieces(Buffer.from('abc'), 3), undefined);
      expect(await database.query(sql`select bytes from file_chunks`)).toEqual([
        { bytes: Buffer.from('abc') },
      ]);
    } finally {
      await database.close();
      await earlier.drop();
    }
  });
});

describe('a bucket out of reach', () => {
  it('is a 503 that names no secret', async () => {
    const blobs = await S3Blobs.open({
      url: s3.url,
      region: 'us-east-1',
      accessKeyId: 'a',
      secretAccessKey: 'b',
    });
    s3.state = 'down';
    try {
      await expect(blobs.delete({ id: 'x' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      s3.state = 'up';
      await blobs.close();
    }
  });
});

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function bytesOf(
  blobs: BlobStore,
  key: BlobKey,
  range: { start: number; end: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of blobs.read(key, range, {})) chunks.push(chunk);
  return Buffer.concat(chunks);
}
