import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ObjectId, serialize } from 'bson';
import { Crc64, type MongoDump, openMongoDump } from '../../../../src/services/importing/mongo/mongo-dump.js';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import { allRows } from '../reading/source-fixture.js';
import { archiveOf } from './dump-fixture.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'campus-dump-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function put(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

async function opened(...names: readonly string[]): Promise<MongoDump> {
  return await openMongoDump(
    names.map((name) => path.join(folder, name)),
    { workFolder: folder },
  );
}

/** By name, the values of the documents of each collection. */
async function read(dump: MongoDump): Promise<Record<string, unknown[]>> {
  const read: Record<string, unknown[]> = {};
  for (const { database, name, file } of dump.collections) {
    const rows = await allRows(await openRowSource({ path: file, name: file }));
    read[database === undefined ? name : `${database}.${name}`] = rows.map(({ values }) => values);
  }
  return read;
}

function bson(...documents: readonly object[]): Buffer {
  return Buffer.concat(documents.map((document) => serialize(document)));
}

const TERMINATOR = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const STUDENTS = [1, 2, 3, 4, 5].map((_id) => ({ _id, name: `S${_id}` }));
const FEES = [1, 2, 3].map((_id) => ({ _id, amount: _id * 100 }));
const READ = {
  'school.students': STUDENTS.map(({ _id, name }) => ({ _id: String(_id), name })),
  'school.Fees': FEES.map(({ _id, amount }) => ({ _id: String(_id), amount })),
};
const METADATA = { indexes: [], collectionName: 'students' };
const SCHOOL = {
  collections: [
    { db: 'school', collection: 'students', documents: STUDENTS },
    { db: 'school', collection: 'Fees', documents: FEES },
  ],
};

it('computes the checksum of archives', () => {
  const crc = new Crc64();
  crc.update(Buffer.from('12345'));
  crc.update(Buffer.from('6789'));
  // The check value of CRC-64/XZ, of which all catalogs have this text.
  expect([crc.sum.high >>> 0, crc.sum.low >>> 0]).toEqual([0x995dc9bb, 0xdf1939fa]);
});

describe('an archive of mongodump', () => {
  it.each([
    ['plain', archiveOf(SCHOOL)],
    ['gzipped', gzipSync(archiveOf(SCHOOL))],
    ['with collections in one piece', archiveOf({ ...SCHOOL, blockSize: 1_000 })],
  ])('is read, collections that take turns apart: %s', async (_, bytes) => {
    await put('school.archive', bytes);
    const dump = await opened('school.archive');
    expect(await read(dump)).toEqual(READ);
    await dump[Symbol.asyncDispose]();
    expect(await readdir(folder)).toEqual(['school.archive']);
  });

  it('is read wherever a chunk of the file ends', async () => {
    const documents = Array.from({ length: 4_000 }, (_, _id) => ({ _id, text: 'x'.repeat(_id % 500) }));
    await put('a', archiveOf({ collections: [{ db: 'd', collection: 'c', documents }], blockSize: 7 }));
    await using dump = await opened('a');
    expect((await read(dump))['d.c']).toEqual(documents.map(({ _id, text }) => ({ _id: String(_id), text })));
  });

  it('tells of what is not read: views, and collections of the server', async () => {
    await put(
      'a',
      archiveOf({
        collections: [
          { db: 'school', collection: 'students', documents: STUDENTS },
          { db: 'school', collection: 'present', type: 'view' },
          { db: 'school', collection: 'system.users', documents: [{ _id: 1 }] },
          { db: 'admin', collection: 'things', documents: [{ _id: 1 }] },
        ],
      }),
    );
    await using dump = await opened('a');
    expect(dump.collections.map(({ name }) => name)).toEqual(['students']);
    expect(dump.warnings).toEqual([
      'school.present has no documents in the archive: it is a view, and is not read.',
      "school.system.users is not read: it is the server's own.",
      "admin.things is not read: it is the server's own.",
    ]);
  });

  it.each<[string, (bytes: Buffer) => Buffer, string]>([
    ['cut within documents', (bytes) => bytes.subarray(0, -200), 'The file ends within document'],
    [
      'cut at the end of a block',
      (bytes) => bytes.subarray(0, bytes.lastIndexOf(TERMINATOR, -5) + 4),
      'The archive is damaged',
    ],
    [
      'with another document than was dumped',
      (bytes) => {
        const changed = Buffer.from(bytes);
        changed.write('T', changed.indexOf('S4'));
        return changed;
      },
      'The archive is damaged: the checksum of school.students is another than that of its documents.',
    ],
    [
      'garbled',
      (bytes) => Buffer.concat([bytes.subarray(0, 4), Buffer.from([3, 0, 0, 0])]),
      'Document 1 has a length of 3',
    ],
    [
      'without documents',
      (bytes) => bytes.subarray(0, bytes.indexOf(TERMINATOR) + 4),
      'it ends before school.students',
    ],
  ])('is refused: %s', async (_, damage, message) => {
    await put('a', damage(archiveOf(SCHOOL)));
    await expect(opened('a')).rejects.toMatchObject({
      code: 'MALFORMED_REQUEST',
      message: expect.stringContaining(message),
    });
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('is left when its signal says so', async () => {
    const file = await put('a', archiveOf(SCHOOL));
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(openMongoDump([file], { workFolder: folder, signal })).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual(['a']);
  });
});

describe('a folder of mongodump', () => {
  it.each(['dump', 'dump/school'])('is read, gzipped files too: %s', async (name) => {
    await put('dump/school/students.bson', bson(...STUDENTS));
    await put('dump/school/students.metadata.json', JSON.stringify(METADATA));
    await put('dump/school/Fees.bson.gz', gzipSync(bson(...FEES)));
    await put('dump/school/Fees.metadata.json.gz', gzipSync('{"indexes":[]}'));
    await put('dump/school/prelude.json', '{}');
    await using dump = await opened(name);
    expect(await read(dump)).toEqual({
      'school.Fees': READ['school.Fees'],
      'school.students': READ['school.students'],
    });
    expect(dump.warnings).toEqual([]);
  });

  it('has the names that files cannot have, and tells of what is not read', async () => {
    await put('dump/school/a%2Fb.bson', bson({ _id: 1 }));
    await put('dump/school/long%24xyz.bson', bson({ _id: 2 }));
    await put('dump/school/long%24xyz.metadata.json', '{"collectionName":"long name"}');
    await put('dump/school/view.metadata.json', '{}');
    await put('dump/school/notes.txt', 'x');
    await put('dump/school/deeper/x.bson', bson({ _id: 1 }));
    await put('dump/oplog.bson', bson({ ts: 1 }));
    await using dump = await opened('dump');
    expect(dump.collections.map(({ name }) => name)).toEqual(['a/b', 'long name']);
    expect(dump.warnings.map((warning) => warning.replaceAll(folder, '…'))).toEqual([
      '…/dump/oplog.bson is not read: it holds changes, no documents.',
      '…/dump/school/deeper is not read: a folder within that of a database.',
      '…/dump/school/notes.txt is not read: it is no file of mongodump or mongoexport.',
      'view has no documents in the dump: it is a view, and is not read.',
    ]);
  });

  it.each([
    ['that is not there', 'none', 'NOT_FOUND'],
    ['without collections', '.', 'MALFORMED_REQUEST'],
  ])('is refused: %s', async (_, name, code) => {
    await expect(opened(name)).rejects.toMatchObject({ code });
  });

  it('is refused with metadata that are not JSON', async () => {
    await put('school/a.bson', bson({ _id: 1 }));
    await put('school/a.metadata.json', '{');
    await expect(opened('school')).rejects.toThrow('are not JSON');
  });
});

it('reads files of mongoexport', async () => {
  await put('students.json', '{"_id":{"$oid":"507f1f77bcf86cd799439011"},"n":1}\n{"_id":2,"n":2}\n');
  await put('fees.bson', bson({ _id: new ObjectId('507f1f77bcf86cd799439011') }));
  await using dump = await opened('students.json', 'fees.bson');
  expect(await read(dump)).toEqual({
    students: [
      { _id: '507f1f77bcf86cd799439011', n: 1 },
      { _id: '2', n: 2 },
    ],
    fees: [{ _id: '507f1f77bcf86cd799439011' }],
  });
});
