import { createHash, randomBytes } from 'node:crypto';
import http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Upload, type UploadOptions } from 'tus-js-client';
import { type Role, type StartedGateway, startGateway } from '../contract/gateway.js';
import { createTestDatabase } from '../database.js';
import { eventually } from '../eventually.js';

const SETTINGS = {
  FILE_MAX_BYTES: '2000000',
  FILES_QUOTA_BYTES: '12000000',
  FILE_UPLOADS_OPEN: '4',
  CORS_ORIGINS: 'https://school.example',
};
const PIECE = { 'content-type': 'application/offset+octet-stream' };
const BYTES = randomBytes(700_001);

let gateway: StartedGateway;
let other: StartedGateway;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  gateway = await startGateway(database.url, SETTINGS);
  other = await startGateway(database.url, SETTINGS);
});
afterAll(async () => {
  await gateway.close();
  await other.close();
  await drop();
});

interface Sent {
  readonly as?: Role | undefined;
  readonly to?: StartedGateway;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

async function tus(method: string, path: string, { as = 'clerk', to = gateway, headers, body }: Sent = {}) {
  const init = { method, as, headers: { 'tus-resumable': '1.0.0', ...headers } };
  return await to.fetch(path, { ...init, ...(body !== undefined && { body }) });
}

const described = (values: Readonly<Record<string, string>>) =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

async function opened(length: number, sent: Sent & { readonly metadata?: Record<string, string> } = {}) {
  const metadata = described(sent.metadata ?? { filename: 'scan.bin' });
  const headers = { 'upload-length': String(length), 'upload-metadata': metadata, ...sent.headers };
  const response = await tus('POST', '/files', { ...sent, headers });
  expect([response.status, await response.text()]).toEqual([201, '']);
  return response.headers.get('location') ?? '';
}

const patch = async (path: string, offset: number, body: Buffer, sent: Sent = {}) =>
  await tus('PATCH', path, {
    ...sent,
    body,
    headers: { ...PIECE, 'upload-offset': String(offset), ...sent.headers },
  });

async function offsetOf(path: string, sent: Sent = {}): Promise<number | undefined> {
  const response = await tus('HEAD', path, sent);
  return response.ok ? Number(response.headers.get('upload-offset')) : undefined;
}

async function bytesOf(path: string, as: Role = 'clerk'): Promise<Buffer> {
  return Buffer.from(await (await gateway.fetch(path, { as })).arrayBuffer());
}

/** Sends the head of a piece and some of its bytes; the rest when it is told to, or never. */
async function begun(path: string, offset: number, { length, first }: { length: number; first: Buffer }) {
  const request = http.request(`${gateway.url}${path}`, {
    method: 'PATCH',
    headers: {
      ...PIECE,
      'tus-resumable': '1.0.0',
      authorization: `Bearer ${gateway.tokenOf('clerk')}`,
      'upload-offset': String(offset),
      'content-length': String(length),
    },
  });
  const status = new Promise<number | undefined>((resolve) => {
    request.on('error', () => resolve(undefined));
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  await new Promise<void>((resolve) => void request.write(first, () => resolve()));
  return { request, status };
}

afterEach(async () => void (await gateway.sql.query('delete from files')));

describe('an upload that is sent piece by piece', () => {
  it('has its length said later, once', async () => {
    const response = await tus('POST', '/files', { headers: { 'upload-defer-length': '1' } });
    const path = response.headers.get('location') ?? '';
    expect([response.status, response.headers.get('upload-offset')]).toEqual([201, '0']);
    expect((await patch(path, 0, BYTES.subarray(0, 300_000))).status).toBe(204);
    const told = (await tus('HEAD', path)).headers;
    expect([told.get('upload-defer-length'), told.get('upload-length')]).toEqual(['1', null]);
    expect(told.get('upload-offset')).toBe('300000');
    const say = async (length: number, offset = 300_000, body = BYTES.subarray(300_000)) =>
      (await patch(path, offset, body, { headers: { 'upload-length': String(length) } })).status;
    expect(await say(299_999)).toBe(400);
    expect(await say(2_000_001)).toBe(413);
    expect(await say(BYTES.length, 300_000, BYTES.subarray(300_000, 400_000))).toBe(204);
    expect(await say(BYTES.length + 1, 400_000, BYTES.subarray(400_000))).toBe(400);
    const known = (await tus('HEAD', path, { to: other })).headers;
    expect([known.get('upload-defer-length'), known.get('upload-length')]).toEqual([null, '700001']);
    expect(await say(BYTES.length, 400_000, BYTES.subarray(400_000))).toBe(204);
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });

  it('is a file once its length is said to be what is there, and no longer than one may be', async () => {
    const open = await tus('POST', '/files', { headers: { 'upload-defer-length': '1' } });
    const path = open.headers.get('location') ?? '';
    for (let offset = 0; offset < 2_000_000; offset += 500_000) {
      expect((await patch(path, offset, BYTES.subarray(0, 500_000))).status).toBe(204);
    }
    expect((await patch(path, 2_000_000, Buffer.from('x'))).status).toBe(413);
    expect((await gateway.fetch(path, { as: 'clerk' })).status).toBe(404);
    const said = await patch(path, 2_000_000, Buffer.alloc(0), { headers: { 'upload-length': '2000000' } });
    expect(said.status).toBe(204);
    expect(await bytesOf(path)).toHaveLength(2_000_000);
  });

  it('is gone on with and taken away by POST, where a client can send nothing else', async () => {
    const path = await opened(10);
    const meant = (method: string) => ({ 'x-http-method-override': method });
    const piece = { ...PIECE, 'upload-offset': '0', ...meant('PATCH') };
    expect((await tus('POST', path, { headers: piece, body: 'hello' })).status).toBe(204);
    expect(await offsetOf(path)).toBe(5);
    expect((await tus('POST', path, { headers: meant('PATCH'), body: 'there' })).status).toBe(415);
    expect((await tus('POST', path, { headers: meant('GET') })).status).toBe(405);
    const plain = { method: 'POST', as: 'clerk', headers: meant('DELETE') } as const;
    // It is spoken by tus alone, and of uploads alone.
    expect((await gateway.fetch(path, plain)).status).toBe(405);
    expect((await tus('POST', '/o/recs/task/none', { as: 'admin', headers: meant('DELETE') })).status).toBe(
      405,
    );
    expect((await tus('POST', path, { as: 'teacher', headers: meant('DELETE') })).status).toBe(404);
    expect((await tus('POST', path, { headers: meant('DELETE') })).status).toBe(204);
    expect(await offsetOf(path)).toBeUndefined();
  });

  it('is kept as a file, by a client of tus', async () => {
    const options: UploadOptions = {
      endpoint: `${gateway.url}/files`,
      headers: { authorization: `Bearer ${gateway.tokenOf('clerk')}` },
      metadata: { filename: 'अंकसूची.pdf', filetype: 'application/pdf', relativePath: 'null' },
      chunkSize: 300_000,
    };
    const upload = await new Promise<Upload>((resolve, reject) => {
      const one = new Upload(BYTES, { ...options, onError: reject, onSuccess: () => resolve(one) });
      one.start();
    });
    const read = await gateway.fetch(new URL(upload.url ?? '').pathname, { as: 'clerk' });
    expect(Buffer.from(await read.arrayBuffer()).equals(BYTES)).toBe(true);
    expect(read.headers.get('content-type')).toBe('application/pdf');
    expect(read.headers.get('content-disposition')).toContain(encodeURIComponent('अंकसूची.pdf'));
    const hash = createHash('sha256').update(BYTES).digest('base64url');
    expect(read.headers.get('etag')).toBe(`"${hash}"`);
  });

  it('may have its first piece, or all of it, with its opening', async () => {
    const path = await opened(BYTES.length, { headers: PIECE, body: BYTES.subarray(0, 300_000) });
    expect(await offsetOf(path)).toBe(300_000);
    const whole = await opened(5, { headers: PIECE, body: 'hello' });
    expect((await bytesOf(whole)).toString()).toBe('hello');
    expect((await bytesOf(await opened(0))).length).toBe(0);
    await tus('DELETE', path);
  });

  it('tells how far it is, how it was described and when it ends', async () => {
    const metadata = described({ filename: 'a.txt', roles: 'teacher' });
    const path = await opened(10, { metadata: { filename: 'a.txt', roles: 'teacher' } });
    const sent = await patch(path, 0, Buffer.from('12345'));
    expect([sent.status, sent.headers.get('upload-offset')]).toEqual([204, '5']);
    const head = await tus('HEAD', path);
    const said = ['upload-length', 'upload-offset', 'upload-metadata', 'cache-control', 'tus-resumable'];
    expect(said.map((name) => head.headers.get(name))).toEqual(['10', '5', metadata, 'no-store', '1.0.0']);
    expect(head.headers.get('upload-expires')).toMatch(/GMT$/);
    expect((await gateway.fetch(path, { as: 'clerk' })).status).toBe(404);
    await patch(path, 5, Buffer.from('67890'));
    expect((await bytesOf(path, 'teacher')).toString()).toBe('1234567890');
    expect((await tus('HEAD', path)).headers.get('upload-offset')).toBe('10');
  });

  it('goes on where the line was cut', async () => {
    const path = await opened(BYTES.length);
    const { request, status } = await begun(path, 0, {
      length: BYTES.length,
      first: BYTES.subarray(0, 400_000),
    });
    await eventually(async () => (await offsetOf(path)) === 262_144);
    request.destroy();
    await status;
    await eventually(async () => (await offsetOf(path)) === 400_000);
    expect((await patch(path, 400_000, BYTES.subarray(400_000))).status).toBe(204);
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });

  it('goes on at another gateway, and at one that was started anew', async () => {
    const path = await opened(BYTES.length);
    for (let offset = 0; offset < BYTES.length; offset += 100_000) {
      const to = (offset / 100_000) % 2 === 0 ? gateway : other;
      expect((await patch(path, offset, BYTES.subarray(offset, offset + 100_000), { to })).status).toBe(204);
    }
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });

  it('is written by the request that began last', async () => {
    const path = await opened(BYTES.length);
    const late = await begun(path, 0, { length: BYTES.length, first: BYTES.subarray(0, 300_000) });
    await eventually(async () => (await offsetOf(path)) === 262_144);
    expect((await patch(path, 262_144, BYTES.subarray(262_144))).status).toBe(204);
    late.request.end(randomBytes(BYTES.length - 300_000));
    expect(await late.status).toBe(409);
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });

  it('is made a file by whoever asks, where nobody was there to see its last piece', async () => {
    const path = await opened(6, { headers: PIECE, body: 'abc' });
    await gateway.sql.query(
      `with whole as (update files set size = 6 where id = $1 returning id)
       update file_chunks set bytes = 'abcdef' from whole where file_id = whole.id`,
      [path.split('/').at(-1)],
    );
    expect(await offsetOf(path)).toBe(6);
    expect((await bytesOf(path)).toString()).toBe('abcdef');
  });

  it('belongs to a record where it says so, and needs the right to change that', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ _id: 'task-1', name: 'Scan the certificates' });
    await gateway.fetch('/o/task', { method: 'POST', as: 'admin', headers, body });
    const metadata = { filename: 'scan.txt', collection: 'task', recordId: 'task-1' };
    const path = await opened(3, { as: 'admin', metadata, headers: PIECE, body: 'abc' });
    const link = await gateway.sql.query('select record_id from files where id = $1', [
      path.split('/').at(-1),
    ]);
    expect(link.rows).toEqual([{ record_id: 'task-1' }]);
    const refused = { 'upload-length': '3', 'upload-metadata': described({ ...metadata, recordId: 'none' }) };
    expect((await tus('POST', '/files', { as: 'admin', headers: refused })).status).toBe(404);
  });
});

describe('a checksum', () => {
  const digest = (algorithm: string, bytes: Buffer) =>
    `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`;

  it('that is right keeps the piece, by each of the algorithms', async () => {
    const path = await opened(BYTES.length);
    const cuts = [0, 300_000, 400_000, BYTES.length];
    for (const [index, algorithm] of ['sha1', 'sha256', 'sha512'].entries()) {
      const piece = BYTES.subarray(cuts[index], cuts[index + 1]);
      const headers = { 'upload-checksum': digest(algorithm, piece) };
      expect((await patch(path, cuts[index] ?? 0, piece, { headers })).status).toBe(204);
    }
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });

  it('that is wrong throws the piece away, and so does a cut of it', async () => {
    const path = await opened(BYTES.length);
    await patch(path, 0, BYTES.subarray(0, 100_000));
    const headers = { 'upload-checksum': digest('sha1', Buffer.from('another')) };
    const refused = await patch(path, 100_000, randomBytes(600_001), { headers });
    expect([refused.status, await refused.json()]).toEqual([
      460,
      expect.objectContaining({ type: 'urn:campus:error:CHECKSUM_MISMATCH' }),
    ]);
    expect(await offsetOf(path)).toBe(100_000);
    await patch(path, 100_000, BYTES.subarray(100_000));
    expect((await bytesOf(path)).equals(BYTES)).toBe(true);
  });
});

describe('what is not right', () => {
  const LENGTH = { 'upload-length': '10' };
  it.each<[string, number, Record<string, string>]>([
    ['no length', 400, {}],
    ['a negative length', 400, { 'upload-length': '-1' }],
    ['a length that is no number', 400, { 'upload-length': '1e3' }],
    ['two lengths', 400, { 'upload-length': '10, 10' }],
    ['a length beyond all numbers', 400, { 'upload-length': '9'.repeat(40) }],
    ['a length over the limit', 413, { 'upload-length': '2000001' }],
    ['a length that follows, and is there', 400, { ...LENGTH, 'upload-defer-length': '1' }],
    ['a length that follows, perhaps', 400, { 'upload-defer-length': '2' }],
    ['a description that is no base64', 400, { ...LENGTH, 'upload-metadata': 'filename a~b' }],
    ['a description that is no UTF-8', 400, { ...LENGTH, 'upload-metadata': 'filename /w==' }],
    ['a description with a key twice', 400, { ...LENGTH, 'upload-metadata': 'filename YQ==,filename YQ==' }],
    [
      'a description that is too long',
      400,
      { ...LENGTH, 'upload-metadata': `filename ${'YQ'.repeat(2100)}` },
    ],
    ['a name of two lines', 400, { ...LENGTH, 'upload-metadata': described({ filename: 'a\nb' }) }],
    ['a link to half a record', 400, { ...LENGTH, 'upload-metadata': described({ collection: 'task' }) }],
    ['another version of tus', 412, { ...LENGTH, 'tus-resumable': '0.2.2' }],
    ['another type of body', 415, { ...LENGTH, 'content-type': 'text/plain' }],
  ])('is refused when an upload is opened: %s', async (_name, status, headers) => {
    const body = headers['content-type'] === undefined ? undefined : 'abc';
    const response = await tus('POST', '/files', { headers, ...(body && { body }) });
    expect([response.status, response.headers.get('tus-resumable')]).toEqual([status, '1.0.0']);
  });

  it.each<[string, number, Record<string, string>, string]>([
    ['no offset', 400, { 'upload-offset': '' }, 'abc'],
    ['a negative offset', 400, { 'upload-offset': '-3' }, 'abc'],
    ['two offsets', 400, { 'upload-offset': '3, 3' }, 'abc'],
    ['an offset beyond all numbers', 400, { 'upload-offset': '9'.repeat(30) }, 'abc'],
    ['an offset that is passed', 409, { 'upload-offset': '0' }, 'abc'],
    ['an offset that is not reached', 409, { 'upload-offset': '4' }, 'abc'],
    ['an offset beyond the length', 413, { 'upload-offset': '11' }, 'abc'],
    ['more than there is to be', 413, { 'upload-offset': '3' }, 'a'.repeat(8)],
    ['an unknown checksum', 400, { 'upload-offset': '3', 'upload-checksum': 'crc32 AAAA' }, 'abc'],
    ['a checksum that is too short', 400, { 'upload-offset': '3', 'upload-checksum': 'sha1 AAAA' }, 'abc'],
    ['two checksums', 400, { 'upload-offset': '3', 'upload-checksum': 'sha1 AAAA, sha1 AAAA' }, 'abc'],
    ['another type of body', 415, { 'upload-offset': '3', 'content-type': 'text/plain' }, 'abc'],
    ['another version of tus', 412, { 'upload-offset': '3', 'tus-resumable': '2.0.0' }, 'abc'],
  ])('is refused when it is to go on, and changes nothing: %s', async (_name, status, headers, body) => {
    const path = await opened(10, { headers: PIECE, body: 'abc' });
    const response = await tus('PATCH', path, { headers: { ...PIECE, ...headers }, body });
    expect(response.status).toBe(status);
    expect(await offsetOf(path)).toBe(3);
  });

  it('is refused where the length is not announced and passed', async () => {
    const path = await opened(300_000);
    const request = http.request(`${gateway.url}${path}`, {
      method: 'PATCH',
      headers: {
        ...PIECE,
        'tus-resumable': '1.0.0',
        authorization: `Bearer ${gateway.tokenOf('clerk')}`,
        'upload-offset': '0',
        'transfer-encoding': 'chunked',
      },
    });
    const status = new Promise((resolve, reject) => {
      request.on('error', reject).on('response', (response) => resolve(response.resume().statusCode));
    });
    request.end(randomBytes(400_000));
    expect(await status).toBe(413);
    expect(await offsetOf(path)).toBeLessThan(300_000);
  });

  it('is a piece without the header of tus, or of a path that is no upload', async () => {
    expect((await gateway.fetch('/files/x', { method: 'PATCH', as: 'clerk', headers: PIECE })).status).toBe(
      400,
    );
    expect((await patch('/files/x', 0, Buffer.from('a'))).status).toBe(404);
  });
});

describe('limits', () => {
  it('are those of open uploads, of each caller', async () => {
    for (let open = 0; open < 4; open += 1) await opened(5);
    const refused = await tus('POST', '/files', { headers: { 'upload-length': '5' } });
    expect(await refused.json()).toMatchObject({
      type: 'urn:campus:error:LIMIT_EXCEEDED',
      detail: expect.stringContaining('4'),
    });
    await opened(5, { as: 'teacher' });
  });

  it('are those of all files of a school, what waits included', async () => {
    for (const as of ['clerk', 'admin'] as const) {
      for (let open = 0; open < 3; open += 1) {
        await opened(2_000_000, { as, headers: PIECE, body: Buffer.alloc(1_990_000) });
      }
    }
    expect(
      (await tus('POST', '/files', { as: 'teacher', headers: { 'upload-length': '2000000' } })).status,
    ).toBe(400);
  });

  it('are those of time: what nobody goes on with is not there, and is taken away', async () => {
    const path = await opened(10, { headers: PIECE, body: 'abc' });
    await gateway.sql.query(`update files set updated_at = now() - interval '23 hours'`);
    await gateway.app.services.files.purge();
    expect(await offsetOf(path)).toBe(3);
    await gateway.sql.query(`update files set updated_at = now() - interval '25 hours'`);
    expect(await offsetOf(path)).toBeUndefined();
    expect((await patch(path, 3, Buffer.from('d'))).status).toBe(404);
    await gateway.app.services.files.purge();
    const { rows } = await gateway.sql.query(
      'select (select count(*) from files) + (select count(*) from file_chunks) as left',
    );
    expect(rows).toEqual([{ left: '0' }]);
  });
});

describe('an upload of somebody else', () => {
  it('is not there, for admins neither, nor without a credential', async () => {
    const path = await opened(10, { headers: PIECE, body: 'abc' });
    for (const as of ['admin', 'accountant', 'teacher', 'viewer'] as const) {
      const statuses = [await tus('HEAD', path, { as }), await patch(path, 3, Buffer.from('d'), { as })];
      statuses.push(await tus('DELETE', path, { as }));
      expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    const anonymous = await gateway.fetch(path, {
      method: 'PATCH',
      headers: { 'tus-resumable': '1.0.0', ...PIECE },
    });
    expect(anonymous.status).toBe(401);
    expect(await offsetOf(path)).toBe(3);
  });

  it('is not there in another domain', async () => {
    const path = await opened(10, { as: 'admin', headers: PIECE, body: 'abc' });
    await gateway.sql.query(`insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top')`);
    await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), 'branch')`);
    const headers = { 'x-domain': 'branch' };
    await eventually(async () => (await gateway.fetch('/o/recs/task', { as: 'admin', headers })).ok);
    const sent = { as: 'admin', headers } as const;
    expect((await tus('HEAD', path, sent)).status).toBe(404);
    expect((await patch(path, 3, Buffer.from('d'), sent)).status).toBe(404);
    expect((await tus('DELETE', path, sent)).status).toBe(404);
    expect(await offsetOf(path, { as: 'admin' })).toBe(3);
  });

  it('is not opened by who may not upload', async () => {
    const refused = await tus('POST', '/files', { as: 'viewer', headers: { 'upload-length': '5' } });
    expect(refused.status).toBe(403);
  });
});

describe('an upload that is taken away', () => {
  it('is gone, and a file is so by the rights to it', async () => {
    const path = await opened(10, { headers: PIECE, body: 'abc' });
    expect((await gateway.fetch(path, { method: 'DELETE', as: 'clerk' })).status).toBe(404);
    expect((await tus('DELETE', path)).status).toBe(204);
    expect((await tus('DELETE', path)).status).toBe(404);
    const file = await opened(3, { headers: PIECE, body: 'abc' });
    expect((await tus('DELETE', file)).status).toBe(204);
    expect((await gateway.fetch(file, { as: 'clerk' })).status).toBe(404);
  });
});

describe('a file to import', () => {
  const CSV = `name\n${'Paint the gate\n'.repeat(200_000)}`;
  const metadata = { filename: 'tasks.csv', filetype: 'text/csv', import: 'task' };

  it('is taken by an import, which has its limit, and goes with it', async () => {
    const path = await opened(CSV.length, { as: 'admin', metadata });
    expect((await patch(path, 0, Buffer.from(CSV), { as: 'admin' })).status).toBe(204);
    const id = path.split('/').at(-1);
    const taken = await gateway.fetch(`/imports?collection=task&fileId=${id}`, {
      method: 'POST',
      as: 'admin',
    });
    expect([taken.status, await taken.json()]).toEqual([202, expect.objectContaining({ name: 'tasks.csv' })]);
    const { rows } = await gateway.sql.query(
      'select i.owns_file, f.import_into from imports i join files f on f.id = i.file_id where f.id = $1',
      [id],
    );
    expect(rows).toEqual([{ owns_file: true, import_into: null }]);
  });

  it('is purged where no import takes it', async () => {
    const path = await opened(5, { as: 'admin', metadata, headers: PIECE, body: 'name\n' });
    await gateway.sql.query(
      `update files set updated_at = now() - interval '25 hours' where import_into is not null`,
    );
    await gateway.app.services.files.purge();
    expect((await gateway.fetch(path, { as: 'admin' })).status).toBe(404);
  });

  it('is not opened by who may not import', async () => {
    const headers = { 'upload-length': '5', 'upload-metadata': described(metadata) };
    expect((await tus('POST', '/files', { as: 'viewer', headers })).status).toBe(403);
  });
});

describe('OPTIONS', () => {
  it('tells what is spoken, to a browser of elsewhere too', async () => {
    for (const headers of [
      {},
      { origin: 'https://school.example', 'access-control-request-method': 'PATCH' },
    ]) {
      const response = await gateway.fetch('/files/x', { method: 'OPTIONS', headers });
      const said = ['tus-version', 'tus-extension', 'tus-max-size', 'tus-checksum-algorithm'];
      expect([response.status, ...said.map((name) => response.headers.get(name))]).toEqual([
        204,
        '1.0.0',
        'creation,creation-with-upload,creation-defer-length,expiration,checksum,termination',
        '2147483648',
        'sha1,sha256,sha512',
      ]);
    }
    const read = await gateway.fetch('/files', {
      method: 'OPTIONS',
      headers: { origin: 'https://school.example' },
    });
    expect(read.headers.get('access-control-expose-headers')).toContain('Upload-Offset');
  });
});
