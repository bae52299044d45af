/** Records that others point to are not removed in silence, on every door. */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask, send } from './graphql.js';

const gateway = useGateway();

const REGISTER = 'mutation ($definition: JSON!) { registerCollection(definition: $definition) { name } }';
const RIGHTS = { verbs: ['read', 'create', 'update', 'delete'] };

beforeAll(async () => {
  const definitions = [
    {
      name: 'shelf',
      fields: [
        { name: 'name', type: 'text' },
        { name: 'next', type: 'reference', target: 'shelf' },
      ],
      access: { clerk: RIGHTS },
    },
    {
      name: 'book',
      fields: [
        { name: 'shelf', type: 'reference', target: 'shelf', index: true },
        { name: 'was', type: 'reference', target: 'shelf', onDelete: 'keep' },
        { name: 'also', type: 'reference', target: 'shelf', list: true },
        {
          name: 'copies',
          type: 'object',
          list: true,
          fields: [{ name: 'shelf', type: 'reference', target: 'shelf' }],
        },
      ],
      access: { clerk: RIGHTS },
    },
    { name: 'secret', fields: [{ name: 'shelf', type: 'reference', target: 'shelf' }], access: {} },
  ];
  for (const definition of definitions) await ask(gateway, REGISTER, { variables: { definition } });
});

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection in ('shelf', 'book', 'secret')`);
  for (const id of ['a', 'b', 'c']) await insert('shelf', id, { name: id });
});

async function insert(collection: string, id: string, data: object): Promise<void> {
  await gateway.sql.query(`insert into records (domain, collection, id, data) values ('top', $1, $2, $3)`, [
    collection,
    id,
    JSON.stringify(data),
  ]);
}

async function remove(path: string, as: 'admin' | 'clerk' = 'admin') {
  const response = await gateway.fetch(`/o/recs/${path}`, { method: 'DELETE', as });
  const text = await response.text();
  return { status: response.status, text };
}

async function live(collection: string): Promise<readonly string[]> {
  const { rows } = await gateway.sql.query(
    'select id from records where collection = $1 and deleted_at is null order by id',
    [collection],
  );
  return rows.map(({ id }) => String(id));
}

const mutate = (query: string, variables: Record<string, unknown> = {}, as: 'admin' | 'clerk' = 'admin') =>
  send(gateway, { query, variables, as });

describe('a record that others point to', () => {
  it('is not removed, and what points to it is counted by collection', async () => {
    await insert('book', 'x', { shelf: { value: 'a' } });
    await insert('book', 'y', { shelf: { value: 'a' }, also: [{ value: 'b' }, { value: 'a' }] });
    await insert('book', 'z', { copies: [{ shelf: { value: 'a' } }] });
    const { status, text } = await remove('shelf/a');
    expect(status).toBe(409);
    expect(text).toContain('2 records of book point to it (shelf)');
    expect(text).toContain('1 record of book points to it (also)');
    expect(text).toContain('1 record of book points to it (copies.shelf)');
    expect(await live('shelf')).toEqual(['a', 'b', 'c']);
  });

  it('is removed with force, by an admin alone', async () => {
    await insert('book', 'x', { shelf: { value: 'a' } });
    expect(await remove('shelf/a?force=true', 'clerk')).toMatchObject({ status: 403 });
    expect(await remove('shelf/a?force=perhaps')).toMatchObject({ status: 400 });
    expect(await remove('shelf/a?force=true')).toMatchObject({ status: 204 });
    expect(await live('shelf')).toEqual(['b', 'c']);
  });

  it('is removed if only a reference that keeps, a removed record or itself points to it', async () => {
    await insert('book', 'x', { was: { value: 'a' } });
    await insert('book', 'y', { shelf: { value: 'a' } });
    await remove('book/y');
    await gateway.sql.query(
      `update records set data = data || '{"next": {"value": "a"}}' where id = 'a' and collection = 'shelf'`,
    );
    expect(await remove('shelf/a')).toMatchObject({ status: 204 });
  });

  it('is refused without naming a collection that the caller may not read', async () => {
    await insert('secret', 'x', { shelf: { value: 'a' } });
    const { status, text } = await remove('shelf/a', 'clerk');
    expect(status).toBe(409);
    expect(text).toContain('other records point to it');
    expect(text).not.toContain('secret');
  });
});

describe('GraphQL', () => {
  beforeEach(async () => {
    await insert('book', 'x', { shelf: { value: 'a' } });
    await insert('shelf', 'd', { name: 'd', next: { value: 'b' } });
  });

  for (const [name, mutation] of [
    ['the generic field', 'deleteRecord(collection: "shelf", id: "a"FORCE) { id }'],
    ['the typed field', 'deleteShelf(id: "a"FORCE) { id }'],
    ['the generic field for many', 'deleteRecords(collection: "shelf", oquery: "name=a"FORCE) { matched }'],
    ['the typed field for many', 'deleteShelfs(oquery: "name=a"FORCE) { matched }'],
  ] as const) {
    it(`${name} refuses, and takes force`, async () => {
      const asked = (force: string) => `mutation { ${mutation.replace('FORCE', force)} }`;
      const { errors } = await mutate(asked(''));
      expect(errors?.[0]).toMatchObject({ extensions: { code: 'CONFLICT' } });
      expect(errors?.[0]?.message).toContain('1 record of book points to it (shelf)');
      expect((await mutate(asked(', force: true'), {}, 'clerk')).errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ]);
      expect(await live('shelf')).toContain('a');
      expect((await mutate(asked(', force: true'))).errors).toEqual([]);
      expect(await live('shelf')).not.toContain('a');
    });
  }

  it('removes records that only records of the same call point to', async () => {
    await insert('shelf', 'e', { name: 'e', next: { value: 'd' } });
    const many = 'mutation ($where: JSON!) { deleteRecords(collection: "shelf", where: $where) { matched } }';
    const named = (...names: string[]) => ({ where: { name: { in: names } } });
    expect((await mutate(many, named('b', 'd'))).errors).toMatchObject([
      { extensions: { code: 'CONFLICT' } },
    ]);
    const { data, errors } = await mutate(many, named('b', 'd', 'e'));
    expect(errors).toEqual([]);
    expect(data).toEqual({ deleteRecords: { matched: 3 } });
  });

  it('does not undo the creation of a record that others point to', async () => {
    const made = await gateway.fetch('/o/shelf', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'made-shelf' },
      body: JSON.stringify({ _id: 'made', name: 'made' }),
      as: 'admin',
    });
    expect(made.status).toBe(201);
    const id = made.headers.get('x-request-id');
    await insert('book', 'm', { shelf: { value: 'made' } });
    const undo = `mutation { undoChange(requestId: ${JSON.stringify(id)}FORCE) { removed } }`;
    const { errors } = await mutate(undo.replace('FORCE', ''));
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(await live('shelf')).toContain('made');
    expect((await mutate(undo.replace('FORCE', ', force: true'))).data).toEqual({
      undoChange: { removed: 1 },
    });
  });
});

describe('a removal and a write at the same moment', () => {
  it('leave no reference to a removed record', async () => {
    for (let round = 0; round < 20; round += 1) {
      const id = `race-${round}`;
      await insert('shelf', id, { name: id });
      const post = (body: object) =>
        gateway.fetch('/o/book', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          as: 'admin',
        });
      await Promise.all([
        post({ shelf: id }),
        post([{ shelf: id }, { copies: [{ shelf: id }] }]),
        remove(`shelf/${id}`),
        post({ also: [id] }),
      ]);
    }
    const { rows } = await gateway.sql.query(`
      select b.id from records b
      cross join lateral jsonb_path_query(b.data, '$.**.shelf.value') as h(value)
      join records s on s.collection = 'shelf' and s.id = h.value #>> '{}'
      where b.collection = 'book' and b.deleted_at is null and s.deleted_at is not null`);
    expect(rows).toEqual([]);
  });
});
