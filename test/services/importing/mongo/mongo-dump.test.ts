import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ObjectId, serialize } from 'bson';
import { type MongoDump, openMongoDump } from '../../../../src/services/importing/mongo/mongo-dump.js';
import { openRowSource } from '../../../../src/services/importing/reading/open-row-source.js';
import { allRows } from '../reading/source-fixture.js';

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
  return await openMongoDump(names.map((name) => path.join(folder, name)));
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

const STUDENTS = [1, 2, 3, 4, 5].map((_id) => ({ _id, name: `S${_id}` }));
const FEES = [1, 2, 3].map((_id) => ({ _id, amount: _id * 100 }));
const READ = {
  'school.students': STUDENTS.map(({ _id, name }) => ({ _id: String(_id), name })),
  'school.Fees': FEES.map(({ _id, amount }) => ({ _id: String(_id), amount })),
};
const METADATA = { indexes: [], collectionName: 'students' };
describe('a folder of mongodump', () => {
  it.each(['dump', 'dump/school'])('is read, gzipped files too: %s', async (name) => {
    await put('dump/school/students.bson', bson(...STUDENTS));
    await put('dump/school/students.metadata.json', JSON.stringify(METADATA));
    await put('dump/school/Fees.bson.gz', gzipSync(bson(...FEES)));
    await put('dump/school/Fees.metadata.json.gz', gzipSync('{"indexes":[]}'));
    await put('dump/school/prelude.json', '{}');
    const dump = await opened(name);
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
    const dump = await opened('dump');
    expect(dump.collections.map(({ name }) => name)).toEqual(['a/b', 'long name']);
    expect(dump.warnings.map((warning) => warning.replaceAll(folder, '…'))).toEqual([
      '…/dump/oplog.bson is not read: it holds changes, not documents.',
      '…/dump/school/deeper is not read: a folder within that of a database.',
      '…/dump/school/notes.txt is not read: it is not a file of mongodump or mongoexport.',
      'view has no documents in the dump: it is a view, and is not read.',
    ]);
  });

  it('leaves out collections of the server', async () => {
    await put('dump/school/students.bson', bson(...STUDENTS));
    await put('dump/school/system.users.bson', bson({ _id: 1 }));
    await put('dump/admin/things.bson', bson({ _id: 1 }));
    const dump = await opened('dump');
    expect(dump.collections.map(({ name }) => name)).toEqual(['students']);
    expect(dump.warnings).toEqual([
      "admin.things is not read: it is the server's own.",
      "school.system.users is not read: it is the server's own.",
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

it.each([false, true])('refuses an archive and says how to dump, gzipped: %s', async (isZipped) => {
  const archive = Buffer.concat([Buffer.from([0x6d, 0xe2, 0x99, 0x81]), bson({ version: '0.1' })]);
  await put('school.archive', isZipped ? gzipSync(archive) : archive);
  await expect(opened('school.archive')).rejects.toMatchObject({
    code: 'MALFORMED_REQUEST',
    message: expect.stringContaining('Dump into a folder: mongodump --out=<folder>'),
  });
});

it('reads files of mongoexport', async () => {
  await put('students.json', '{"_id":{"$oid":"507f1f77bcf86cd799439011"},"n":1}\n{"_id":2,"n":2}\n');
  await put('fees.bson', bson({ _id: new ObjectId('507f1f77bcf86cd799439011') }));
  const dump = await opened('students.json', 'fees.bson');
  expect(await read(dump)).toEqual({
    students: [
      { _id: '507f1f77bcf86cd799439011', n: 1 },
      { _id: '2', n: 2 },
    ],
    fees: [{ _id: '507f1f77bcf86cd799439011' }],
  });
});
