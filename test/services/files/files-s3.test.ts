/** A gateway whose files are in a bucket, on a database that has older ones. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createGatewayDatabase, type StartedGateway, startGateway } from '../../contract/gateway.js';
import type { TestDatabase } from '../../database.js';
import { type S3Server, startS3Server } from './s3-server.js';

let database: TestDatabase;
let s3: S3Server;
let gateway: StartedGateway;
let olderUrl: string;

async function upload(to: StartedGateway, bytes: Buffer): Promise<string> {
  const response = await to.fetch('/files?name=a.bin', { method: 'POST', as: 'clerk', body: bytes });
  expect(response.status).toBe(201);
  return ((await response.json()) as { url: string }).url;
}

beforeAll(async () => {
  database = await createGatewayDatabase();
  s3 = await startS3Server();
  const older = await startGateway(database.url);
  olderUrl = await upload(older, Buffer.from('older'));
  await older.close();
  gateway = await startGateway(database.url, {
    FILES_S3_URL: s3.url,
    FILES_S3_ACCESS_KEY_ID: 'school',
    FILES_S3_SECRET_ACCESS_KEY: 'hidden-word',
    FILE_MAX_BYTES: '12000000',
    LOG_LEVEL: 'debug',
  });
});

afterAll(async () => {
  await gateway.close();
  await database.drop();
  await s3.close();
});

describe('files in a bucket', () => {
  it('are kept there and read from there, in ranges too', async () => {
    const bytes = randomBytes(11_000_000);
    const url = await upload(gateway, bytes);
    expect([...s3.objects.keys()]).toEqual([url.replace('/files/', '')]);
    const whole = Buffer.from(await (await gateway.fetch(url, { as: 'clerk' })).arrayBuffer());
    expect(whole.equals(bytes)).toBe(true);
    const part = await gateway.fetch(url, { as: 'clerk', headers: { range: 'bytes=10999990-' } });
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(-10))).toBe(true);
    expect((await gateway.fetch(url, { as: 'clerk', method: 'DELETE' })).status).toBe(204);
    expect(s3.objects.size).toBe(0);
  });

  it('go there once they are whole, where they are sent piece by piece', async () => {
    const bytes = randomBytes(6_000_000);
    const headers = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
    const opened = await gateway.fetch('/files', {
      method: 'POST',
      as: 'clerk',
      headers: { ...headers, 'upload-length': String(bytes.length) },
      body: bytes.subarray(0, 1_000_000),
    });
    const url = opened.headers.get('location') ?? '';
    expect(s3.objects.size).toBe(0);
    await gateway.fetch(url, {
      method: 'PATCH',
      as: 'clerk',
      headers: { ...headers, 'upload-offset': '1000000' },
      body: bytes.subarray(1_000_000),
    });
    expect([...s3.objects.keys()]).toEqual([url.replace('/files/', '')]);
    expect(Buffer.from(await (await gateway.fetch(url, { as: 'clerk' })).arrayBuffer()).equals(bytes)).toBe(
      true,
    );
    const left = await gateway.sql.query('select from file_chunks where file_id = $1', [
      url.replace('/files/', ''),
    ]);
    expect(left.rowCount).toBe(0);
    await gateway.fetch(url, { as: 'clerk', method: 'DELETE' });
  });

  it('go there by several at once who find that nobody saw the last piece', async () => {
    const tus = { 'tus-resumable': '1.0.0', 'content-type': 'application/offset+octet-stream' };
    const headers = { ...tus, 'upload-length': '3000000' };
    const body = randomBytes(2_000_000);
    const opened = await gateway.fetch('/files', { method: 'POST', as: 'clerk', headers, body });
    const url = opened.headers.get('location') ?? '';
    await gateway.sql.query('update files set upload_length = size where upload_length > size');
    const asked = Array.from({ length: 4 }, () =>
      gateway.fetch(url, { method: 'HEAD', as: 'clerk', headers: tus }),
    );
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(Buffer.from(await (await gateway.fetch(url, { as: 'clerk' })).arrayBuffer()).equals(body)).toBe(
      true,
    );
    await gateway.fetch(url, { as: 'clerk', method: 'DELETE' });
  });

  it('leave older ones in the database', async () => {
    expect(await (await gateway.fetch(olderUrl, { as: 'clerk' })).text()).toBe('older');
  });

  it('that are too large leave nothing', async () => {
    const response = await gateway.fetch('/files?name=b', {
      method: 'POST',
      as: 'clerk',
      body: randomBytes(12_000_001),
    });
    expect(response.status).toBe(413);
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
  });

  it.each(['down', 'silent', 'forbidden'] as const)(
    'are a 503 while it is %s, and nothing stays',
    async (state) => {
      const url = await upload(gateway, Buffer.from('x'));
      const before = s3.objects.size;
      s3.state = state;
      try {
        const asked = [
          gateway.fetch('/files?name=c', { method: 'POST', as: 'clerk', body: 'x' }),
          gateway.fetch('/files?name=c', { method: 'POST', as: 'clerk', body: randomBytes(11_000_000) }),
          gateway.fetch(url, { as: 'clerk' }),
        ];
        for (const answer of await Promise.all(asked)) {
          expect(answer.status).toBe(503);
          expect(answer.headers.get('retry-after')).toBe('5');
          const { detail } = (await answer.json()) as { detail: string };
          expect(detail).toMatch(
            state === 'forbidden' ? /refuses access \(AccessDenied\): check FILES_S3_/ : /does not answer/,
          );
        }
      } finally {
        s3.state = 'up';
      }
      expect([s3.objects.size, s3.uploads.size]).toEqual([before, 0]);
      expect(gateway.log.join('')).not.toContain('hidden-word');
    },
  );

  it('and what a killed gateway had begun is ended by the purge', async () => {
    const id = '01a20000-0000-7000-8000-000000000000';
    await gateway.sql.query(
      `insert into files (domain, id, name, content_type, state, storage, created_by, updated_at)
       values ('top', $1, 'a', 'text/plain', 'uploading', 's3', 'usr-clerk', now() - interval '2 hours')`,
      [id],
    );
    s3.uploads.set('left', { key: id, parts: new Map() });
    s3.uploads.set('of somebody else', { key: 'another', parts: new Map() });
    await gateway.app.services.files.purge();
    expect([...s3.uploads.keys()]).toEqual(['of somebody else']);
    s3.uploads.clear();
  });
});
