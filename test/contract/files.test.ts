import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { type Role, useGateway } from './gateway.js';

const gateway = useGateway({ FILE_MAX_BYTES: '3000000', FILES_QUOTA_BYTES: '20000000' });
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

interface FileJson {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  readonly url: string;
}

async function upload(
  bytes: Buffer | string,
  options: { as?: Role; type?: string; query?: string } = {},
): Promise<Response> {
  const { as = 'clerk', type = 'text/plain', query = 'name=note.txt' } = options;
  return await gateway.fetch(`/files?${query}`, {
    method: 'POST',
    as,
    headers: { 'content-type': type },
    body: bytes,
  });
}

async function kept(bytes: Buffer | string, options: Parameters<typeof upload>[1] = {}): Promise<FileJson> {
  const response = await upload(bytes, options);
  expect(response.status).toBe(201);
  return (await response.json()) as FileJson;
}

async function query(document: string, variables: object, as: Role = 'clerk') {
  const response = await gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: document, variables }),
  });
  return (await response.json()) as {
    data?: Record<string, never>;
    errors?: { extensions: { code: string } }[];
  };
}

async function sendAsAdmin(method: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await gateway.fetch(path, { method, as: 'admin', headers, body: JSON.stringify(body) });
  expect([path, response.status]).toEqual([path, method === 'POST' ? 201 : 200]);
}

async function countRows(): Promise<number> {
  const { rows } = await gateway.sql.query(
    `select (select count(*) from files)::int + (select count(*) from file_chunks)::int as count`,
  );
  return rows[0].count;
}

describe('POST /files', () => {
  it('keeps the body as it is', async () => {
    const bytes = randomBytes(700_001);
    const response = await upload(bytes, {
      type: 'application/pdf',
      query: `name=${encodeURIComponent('मार्कशीट 10.pdf')}`,
    });
    expect(response.status).toBe(201);
    const file = (await response.json()) as FileJson;
    expect(file).toMatchObject({
      name: 'मार्कशीट 10.pdf',
      contentType: 'application/pdf',
      size: 700_001,
      createdBy: 'usr-clerk',
      url: `/files/${file.id}`,
    });
    expect(response.headers.get('location')).toBe(file.url);
    const read = await gateway.fetch(file.url, { as: 'clerk' });
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true);
    expect(read.headers.get('etag')).toBe(response.headers.get('etag'));
  });

  it('keeps the file of a form', async () => {
    const form = new FormData();
    form.set('roles', 'teacher, viewer');
    form.set('file', new Blob([PIXEL], { type: 'image/png' }), 'photo.png');
    const response = await gateway.fetch('/files', { method: 'POST', as: 'clerk', body: form });
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({
      name: 'photo.png',
      contentType: 'image/png',
      size: PIXEL.length,
      roles: ['teacher', 'viewer'],
    });
  });

  it('keeps JSON and forms as bytes, too', async () => {
    const file = await kept('{"a": 1', { type: 'application/json', query: 'name=broken.json' });
    expect(await (await gateway.fetch(file.url, { as: 'clerk' })).text()).toBe('{"a": 1');
  });

  it('keeps an empty file', async () => {
    const file = await kept('');
    const read = await gateway.fetch(file.url, { as: 'clerk' });
    expect([read.status, await read.text()]).toEqual([200, '']);
    expect((await gateway.fetch(file.url, { as: 'clerk', headers: { range: 'bytes=0-' } })).status).toBe(416);
  });

  it('takes the last part of a path for the name', async () => {
    expect(await kept('x', { query: `name=${encodeURIComponent('C:\\Users\\asha\\a.txt')}` })).toMatchObject({
      name: 'a.txt',
    });
    expect(await kept('x', { query: `name=${encodeURIComponent('../../etc/passwd')}` })).toMatchObject({
      name: 'passwd',
    });
  });

  const refusals: [what: string, status: number, o: Parameters<typeof upload>[1], bytes?: Buffer][] = [
    ['no name', 400, { query: '' }],
    ['a name that is none', 400, { query: 'name=..' }],
    ['a name with a line break', 400, { query: 'name=a%0d%0ab' }],
    ['a type that is none', 400, { type: 'nonsense' }],
    ['a parameter that is not ours', 400, { query: 'name=a&colection=task' }],
    ['half a record', 400, { query: 'name=a&collection=registration' }],
    ['roles that are none', 400, { query: 'name=a&roles=a%20b' }],
    ['a collection that is not there', 404, { as: 'admin', query: 'name=a&collection=nothing&recordId=1' }],
    ['a record that is not there', 404, { as: 'admin', query: 'name=a&collection=task&recordId=nothing' }],
    ['a role that uploads nothing', 403, { as: 'viewer' }],
    ['a file that is too large', 413, {}, randomBytes(3_000_001)],
  ];
  for (const [what, status, o, bytes] of refusals) {
    it(`refuses ${what} with ${status}, and keeps nothing`, async () => {
      const before = await countRows();
      const response = await upload(bytes ?? 'x', o);
      expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ status })]);
      expect(await countRows()).toBe(before);
    });
  }

  it('refuses who says not who it is', async () => {
    const response = await fetch(`${gateway.url}/files?name=a`, { method: 'POST', body: 'x' });
    expect(response.status).toBe(401);
  });

  it('refuses a form without a file, and one with something after it', async () => {
    const empty = new FormData();
    empty.set('name', 'a');
    expect((await gateway.fetch('/files', { method: 'POST', as: 'clerk', body: empty })).status).toBe(400);
    const late = new FormData();
    late.set('file', new Blob(['x']), 'x.txt');
    late.set('roles', 'viewer');
    const before = await countRows();
    expect((await gateway.fetch('/files', { method: 'POST', as: 'clerk', body: late })).status).toBe(400);
    expect(await countRows()).toBe(before);
  });

  const PART = '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
  it.each([
    ['multipart/form-data', `${PART}x\r\n--XX--\r\n`],
    ['multipart/form-data; boundary=', `${PART}x\r\n--XX--\r\n`],
    ['multipart/form-data; boundary=YY', `${PART}x\r\n--XX--\r\n`],
    ['multipart/form-data; boundary=XX', ''],
    ['multipart/form-data; boundary=XX', `${PART}x`],
    ['multipart/form-data; boundary=XX', '--XX\r\nContent-Disposition: form-data; name="file"'],
    [
      'multipart/form-data; boundary=XX',
      '--XX\r\nContent-Disposition: form-data; name="__proto__"\r\n\r\nx\r\n--XX--\r\n',
    ],
    [
      'multipart/form-data; boundary=XX',
      '--XX\r\nContent-Type: application/json\r\nContent-Disposition: form-data; name="roles"\r\n\r\n{' +
        '\r\n--XX--\r\n',
    ],
  ])('refuses the malformed form of %s with 400, and keeps nothing: %j', async (type, body) => {
    const before = await countRows();
    const headers = { 'content-type': type };
    const response = await gateway.fetch('/files', { method: 'POST', as: 'clerk', headers, body });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ status: 400 })]);
    expect(await countRows()).toBe(before);
  });

  for (const [kind, head] of [
    ['a body', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'multipart/form-data; boundary=XX' }],
  ] as const) {
    it(`keeps nothing of ${kind} that is broken off`, async () => {
      const before = await countRows();
      const request = http.request(`${gateway.url}/files?name=broken`, {
        method: 'POST',
        headers: {
          ...head,
          authorization: `Bearer ${gateway.tokenOf('clerk')}`,
          'content-length': '2000000',
        },
      });
      request.on('error', () => {});
      if (kind === 'a form')
        request.write('--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
      request.write(randomBytes(1_000_000));
      await eventually(async () => (await countRows()) > before);
      request.destroy();
      await eventually(async () => (await countRows()) === before);
    });
  }

  it('keeps to the quota of the school', async () => {
    const big = randomBytes(2_900_000);
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++) statuses.push((await upload(big)).status);
    expect(statuses.filter((status) => status === 201).length).toBeLessThan(8);
    expect(statuses.at(-1)).toBe(400);
    const { rows } = await gateway.sql.query('select sum(size)::int as used from files');
    expect(rows[0].used).toBeLessThanOrEqual(20_000_000);
    await gateway.sql.query('delete from files where size = 2900000');
  });
});

describe('GET /files/<id>', () => {
  const TEXT = '0123456789';
  let file: FileJson;
  beforeAll(async () => {
    file = await kept(TEXT);
  });

  const ranges: [range: string, status: number, body: string, contentRange: string | null][] = [
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, TEXT, 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-9', 206, TEXT, 'bytes 0-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=99-100', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=4-2', 200, TEXT, null],
    ['bytes=0-1,3-4', 200, TEXT, null],
    ['lines=0-1', 200, TEXT, null],
    ['bytes=a-b', 200, TEXT, null],
    ['bytes=-', 200, TEXT, null],
  ];
  for (const [range, status, body, contentRange] of ranges) {
    it(`${range} is ${status}`, async () => {
      const response = await gateway.fetch(file.url, { as: 'clerk', headers: { range } });
      const text = await response.text();
      expect([response.status, status === 416 ? '' : text, response.headers.get('content-range')]).toEqual([
        status,
        body,
        contentRange,
      ]);
      if (status < 400) expect(response.headers.get('content-length')).toBe(String(body.length));
    });
  }

  it('answers a range only of the file that is meant', async () => {
    const etag = (await gateway.fetch(file.url, { as: 'clerk' })).headers.get('etag') ?? '';
    const get = async (ifRange: string) =>
      (await gateway.fetch(file.url, { as: 'clerk', headers: { range: 'bytes=0-1', 'if-range': ifRange } }))
        .status;
    expect([
      await get(etag),
      await get('"other"'),
      await get(`W/${etag}`),
      await get(new Date().toUTCString()),
    ]).toEqual([206, 200, 200, 200]);
  });

  it('says 304 to who has it', async () => {
    const etag = (await gateway.fetch(file.url, { as: 'clerk' })).headers.get('etag') ?? '';
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await gateway.fetch(file.url, { as: 'clerk', headers: { 'if-none-match': tags } });
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await gateway.fetch(file.url, { as: 'clerk', headers: { 'if-none-match': '"x"' } })).status).toBe(
      200,
    );
  });

  it('answers HEAD as GET, without the bytes', async () => {
    const response = await gateway.fetch(file.url, {
      as: 'clerk',
      method: 'HEAD',
      headers: { range: 'bytes=0-1' },
    });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      '10',
      '',
    ]);
  });

  it('lets nothing run as a page of ours', async () => {
    const page = await kept('<script>alert(document.domain)</script>', {
      type: 'text/html',
      query: 'name=evil.html',
    });
    const response = await gateway.fetch(page.url, { as: 'clerk' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="evil.html"; filename*=UTF-8''evil.html`,
      'content-security-policy': expect.stringMatching(/default-src 'none'.*sandbox/),
      'cache-control': 'private, no-cache',
    });
  });

  it('shows pictures, and saves them when asked to', async () => {
    const photo = await kept(PIXEL, { type: 'image/png', query: `name=${encodeURIComponent('é"q\'%.png')}` });
    const shown = await gateway.fetch(photo.url, { as: 'clerk' });
    expect(shown.headers.get('content-disposition')).toBe(
      `inline; filename="__q'_.png"; filename*=UTF-8''%C3%A9%22q%27%25.png`,
    );
    const saved = await gateway.fetch(`${photo.url}?download=true`, { as: 'clerk' });
    expect(saved.headers.get('content-disposition')).toMatch(/^attachment;/);
  });

  it('is there for its owner, admins and its roles alone', async () => {
    const given = await kept('x', { query: 'name=a&roles=teacher' });
    const statusFor = async (as: Role) => (await gateway.fetch(given.url, { as })).status;
    expect([
      await statusFor('clerk'),
      await statusFor('admin'),
      await statusFor('teacher'),
      await statusFor('viewer'),
    ]).toEqual([200, 200, 200, 404]);
    expect((await fetch(gateway.url + given.url)).status).toBe(401);
  });

  it('is there for who may read its record', async () => {
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ _id: 'task-1', name: 'Paint the gate' }),
    });
    const plan = await kept('x', { as: 'admin', query: 'name=plan.txt&collection=task&recordId=task-1' });
    const readers = await Promise.all(
      (['admin', 'clerk', 'viewer'] as const).map(async (as) => {
        const ofRecord = (await gateway.fetch('/o/recs/task/task-1', { as })).status;
        const ofFile = (await gateway.fetch(plan.url, { as })).status;
        return ofRecord === 200 ? ofFile === 200 : ofFile === 404;
      }),
    );
    expect(readers).toEqual([true, true, true]);
    const { data } = await query(
      'query ($id: ID!) { files(collection: "task", recordId: $id) { totalCount nodes { name url } } }',
      { id: 'task-1' },
      'admin',
    );
    expect(data?.files).toEqual({ totalCount: 1, nodes: [{ name: 'plan.txt', url: plan.url }] });
  });

  it('is added by who may change its record, not by who may read it', async () => {
    const setRoles = (roles: readonly string[]) =>
      sendAsAdmin('PATCH', '/o/recs/pltf_user/usr-clerk', { roles });
    const access = {
      viewer: { verbs: ['read'] },
      clerk: { verbs: ['read', 'update'], rows: { fields: ['owner'], attribute: 'self' } },
    };
    const definition = { name: 'visit', fields: [{ name: 'owner', type: 'text' }], access };
    await query(
      `mutation ($d: JSON!) { registerCollection(definition: $d) { name } }`,
      { d: definition },
      'admin',
    );
    await sendAsAdmin('POST', '/o/visit', { _id: 'mine', owner: 'usr-clerk' });
    await sendAsAdmin('POST', '/o/visit', { _id: 'theirs', owner: 'usr-admin' });
    await setRoles(['clerk', 'viewer']);
    const attempts: unknown[] = [];
    for (const id of ['mine', 'theirs', 'none']) {
      const read = (await gateway.fetch(`/o/recs/visit/${id}`, { as: 'clerk' })).status;
      const before = await countRows();
      const added = await upload('x', { query: `name=a&collection=visit&recordId=${id}` });
      attempts.push([id, read, added.status, added.status === 201 || (await countRows()) === before]);
    }
    expect(attempts).toEqual([
      ['mine', 200, 201, true],
      ['theirs', 200, 403, true],
      ['none', 404, 404, true],
    ]);
    const small =
      'mutation { createFile(data: {name: "a", content: "eA==", collection: "visit", recordId: ' +
      '"theirs"}) { id } }';
    expect((await query(small, {})).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    await setRoles(['clerk']);
  });

  it('is not there in another domain', async () => {
    await gateway.sql.query(
      `insert into domains (id, name, parent_id) values ('branch', 'Branch', 'top') on conflict do nothing`,
    );
    await gateway.sql.query(`select pg_notify(campus_channel('campus_domains'), 'branch')`);
    await eventually(async () => {
      const response = await gateway.fetch('/o/recs/task', {
        as: 'admin',
        headers: { 'x-domain': 'branch' },
      });
      await response.text();
      return response.status === 200;
    });
    const response = await gateway.fetch(file.url, { as: 'admin', headers: { 'x-domain': 'branch' } });
    expect(response.status).toBe(404);
  });

  for (const id of ['nothing', '00000000-0000-0000-0000-000000000000', '%00', "' or 1=1"]) {
    it(`is a 404 for ${id}`, async () => {
      expect((await gateway.fetch(`/files/${encodeURIComponent(id)}`, { as: 'admin' })).status).toBe(404);
    });
  }

  it('says which methods go with it', async () => {
    const response = await gateway.fetch(file.url, { as: 'clerk', method: 'PUT', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([
      405,
      'GET, HEAD, PATCH, DELETE, OPTIONS',
    ]);
  });
});

describe('DELETE /files/<id>', () => {
  it('is for its owner and admins', async () => {
    const file = await kept('x', { query: 'name=a&roles=teacher,viewer' });
    const asked = 'query ($id: ID!) { file(id: $id) { mayRemove } }';
    for (const [as, mayRemove] of [
      ['teacher', false],
      ['clerk', true],
      ['admin', true],
    ] as const) {
      expect((await query(asked, { id: file.id }, as)).data?.file).toEqual({ mayRemove });
    }
    expect((await gateway.fetch(file.url, { as: 'teacher', method: 'DELETE' })).status).toBe(403);
    expect((await gateway.fetch(file.url, { as: 'accountant', method: 'DELETE' })).status).toBe(404);
    expect((await gateway.fetch(file.url, { as: 'clerk', method: 'DELETE' })).status).toBe(204);
    expect((await gateway.fetch(file.url, { as: 'clerk' })).status).toBe(404);
    const { rows } = await gateway.sql.query('select 1 from file_chunks where file_id = $1', [file.id]);
    expect(rows).toEqual([]);
  });
});

describe('files by GraphQL', () => {
  it('are made, found, listed page by page and taken away', async () => {
    const create = 'mutation ($data: CreateFileInput!) { createFile(data: $data) { id name size sha256 } }';
    for (const name of ['gql-1.txt', 'gql-2.txt', 'gql-3.txt']) {
      const { data } = await query(
        create,
        { data: { name, contentType: 'text/plain', content: 'aGVsbG8=' } },
        'accountant',
      );
      expect(data?.createFile).toMatchObject({
        name,
        size: 5,
        sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      });
    }
    const list =
      'query ($after: String) { files(name: "GQL-", first: 2, after: $after) { nodes { id name } ' +
      'pageInfo { hasNextPage endCursor } totalCount } }';
    const first = (await query(list, {}, 'accountant')).data?.files as unknown as {
      nodes: { id: string; name: string }[];
      pageInfo: { hasNextPage: boolean; endCursor: string };
      totalCount: number;
    };
    expect([first.nodes.map(({ name }) => name), first.pageInfo.hasNextPage, first.totalCount]).toEqual([
      ['gql-3.txt', 'gql-2.txt'],
      true,
      3,
    ]);
    const second = await query(list, { after: first.pageInfo.endCursor }, 'accountant');
    expect(second.data?.files).toMatchObject({
      nodes: [{ name: 'gql-1.txt' }],
      pageInfo: { hasNextPage: false },
    });
    const gone = await query(
      'mutation ($id: ID!) { deleteFile(id: $id) { name } }',
      { id: first.nodes[0]?.id },
      'accountant',
    );
    expect(gone.data?.deleteFile).toEqual({ name: 'gql-3.txt' });
  });

  it('are listed of one collection, whatever the record, and only those one opens oneself', async () => {
    await sendAsAdmin('POST', '/o/task', { _id: 'task-of-list', name: 'Sweep the yard' });
    const linked = await kept('x', {
      as: 'admin',
      query: 'name=of-list.txt&collection=task&recordId=task-of-list',
    });
    await kept('x', { as: 'admin', query: 'name=of-list.txt' });
    const list = async (as: Role, place: string) => {
      const { data, errors } = await query(
        `{ files(name: "of-list", ${place}) { totalCount nodes { id } } }`,
        {},
        as,
      );
      return errors?.[0]?.extensions.code ?? data?.files;
    };
    expect(await list('admin', 'collection: "task"')).toEqual({ totalCount: 1, nodes: [{ id: linked.id }] });
    expect(await list('admin', 'collection: "class"')).toEqual({ totalCount: 0, nodes: [] });
    expect(await list('clerk', 'collection: "task"')).toEqual({ totalCount: 0, nodes: [] });
    expect(await list('admin', 'recordId: "task-of-list"')).toBe('INVALID_VALUE');
  });

  it('of others are not there', async () => {
    const file = await kept('x', { as: 'admin' });
    expect(
      (await query('query ($id: ID!) { file(id: $id) { name } }', { id: file.id }, 'viewer')).errors?.[0]
        ?.extensions.code,
    ).toBe('NOT_FOUND');
    expect((await query('{ files(name: "gql") { totalCount } }', {}, 'viewer')).data?.files).toEqual({
      totalCount: 0,
    });
  });
});

describe('a file whose record was purged', () => {
  it('goes after it', async () => {
    const record = { _id: 'task-2', name: 'Mow the lawn' };
    await gateway.fetch('/o/task', {
      method: 'POST',
      as: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(record),
    });
    const file = await kept('x', { as: 'admin', query: 'name=a&collection=task&recordId=task-2' });
    const other = await kept('x', { as: 'admin' });
    await gateway.fetch('/o/recs/task/task-2', { method: 'DELETE', as: 'admin' });
    await gateway.sql.query(`select campus_jobs.add_job('files.purge')`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await gateway.fetch(file.url, { as: 'admin' })).status).toBe(200);
    await gateway.sql.query(`delete from records where collection = 'task' and id = 'task-2'`);
    await gateway.sql.query(`select campus_jobs.add_job('files.purge')`);
    await eventually(async () => (await gateway.fetch(file.url, { as: 'admin' })).status === 404);
    expect((await gateway.fetch(other.url, { as: 'admin' })).status).toBe(200);
  });
});

describe('an upload that a gateway left behind', () => {
  it('is purged after an hour', async () => {
    const { rows } = await gateway.sql.query(
      `insert into files (id, domain, name, content_type, state, storage, created_by, updated_at)
       values ('01234567-0000-7000-8000-000000000001', 'top', 'old', 'a/b', 'uploading', 'database',
         'u', now() - interval '2 hours'),
              ('01234567-0000-7000-8000-000000000002', 'top', 'new', 'a/b', 'uploading', 'database',
                'u', now())
       returning id`,
    );
    expect(rows).toHaveLength(2);
    await gateway.sql.query(`select campus_jobs.add_job('files.purge')`);
    await eventually(async () => {
      const { rows: left } = await gateway.sql.query(`select name from files where state = 'uploading'`);
      return left.length === 1 && left[0].name === 'new';
    });
  });
});
