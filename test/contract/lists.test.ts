/**
 * What a list takes and says beyond oquery: `where` as JSON, how many records match in all, and the place of
 * records without a value.
 */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway();
const JSON_BODY = { 'content-type': 'application/json' };

beforeAll(async () => {
  const tasks = [
    { _id: 't1', name: 'Paint', amount: 100 },
    { _id: 't2', name: 'Mend', amount: 250.5 },
    { _id: 't3', name: 'Sweep' },
  ];
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'clerk',
    headers: JSON_BODY,
    body: JSON.stringify(tasks),
  });
  expect(response.status).toBe(201);
});

async function idsOf(response: Response): Promise<unknown> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly _id: string }[]).map(({ _id }) => _id);
}

function asked(where: unknown, more = ''): string {
  const text = typeof where === 'string' ? where : JSON.stringify(where);
  return `/o/recs/task?where=${encodeURIComponent(text)}${more}`;
}

describe('where', () => {
  it.each([
    [{}, '', ['t1', 't2', 't3']],
    ['', '', ['t1', 't2', 't3']],
    [{ amount: { isNull: true } }, '', ['t3']],
    [{ or: [{ name: { equals: 'Paint' } }, { amount: { equals: 250.5 } }] }, '', ['t1', 't2']],
    [{ not: { name: { equals: 'Paint' } } }, '&oquery=amount=>1', ['t2']],
    [{ amount: { isNull: false } }, '&sort=-amount&limit=1', ['t2']],
  ])('%j%s finds records as in GraphQL', async (where, more, ids) => {
    expect(await idsOf(await gateway.fetch(asked(where, more), { as: 'viewer' }))).toEqual(ids);
  });

  it('is in a body the object itself, or its text', async () => {
    const where = { or: [{ amount: { isNull: true } }, { amount: { lessThan: 200 } }] };
    for (const sent of [where, JSON.stringify(where)]) {
      const response = await gateway.fetch('/o/recs/task', {
        method: 'POST',
        as: 'viewer',
        headers: JSON_BODY,
        body: JSON.stringify({ where: sent, project: 'name' }),
      });
      expect(await idsOf(response)).toEqual(['t1', 't3']);
    }
  });

  it.each([
    ['{', 'MALFORMED_FILTER', 'The parameter where is "{"; expected a JSON object'],
    ['[]', 'MALFORMED_FILTER', 'The parameter where is "[]"; expected a JSON object'],
    ['null', 'MALFORMED_FILTER', 'The parameter where is "null"; expected a JSON object'],
    ['{"amont":{"isNull":true}}', 'MALFORMED_FILTER', 'Did you mean "amount"?'],
    ['{"amount":{"greaterThan":"x"}}', 'INVALID_VALUE', 'where/amount/greaterThan'],
  ])('%s is refused, and told how it would be right', async (where, code, words) => {
    const response = await gateway.fetch(asked(where), { as: 'viewer' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: expect.stringContaining(code),
      detail: expect.stringContaining(words),
      errors: [expect.objectContaining({ parameter: 'where' })],
    });
  });

  it('may ask for no field that its caller may not read', async () => {
    const where = encodeURIComponent('{"salary":{"greaterThan":1}}');
    const response = await gateway.fetch(`/o/recs/pltf_user?where=${where}`, { as: 'viewer' });
    expect(response.status).toBeGreaterThanOrEqual(400);
  });
});

describe('Prefer: count=exact', () => {
  const total = ({ headers }: Response) => [headers.get('x-total-count'), headers.get('preference-applied')];

  it.each([
    ['', 'application/json'],
    ['?limit=1', 'application/json'],
    ['?limit=1&skip=1', 'text/csv'],
    ['?stream=true', 'application/x-ndjson'],
  ])('tells how many match whatever the page: %s as %s', async (query, accept) => {
    const headers = { accept, prefer: 'Count = "exact"' };
    const response = await gateway.fetch(`/o/recs/task${query}`, { as: 'viewer', headers });
    expect(response.status).toBe(200);
    expect(total(response)).toEqual(['3', 'count=exact']);
  });

  it('counts what the filter finds, and goes with the end marker', async () => {
    const headers = { accept: 'application/x-ndjson', prefer: 'count=exact, end-marker' };
    const path = asked({ amount: { isNull: false } }, '&limit=1');
    const response = await gateway.fetch(path, { as: 'viewer', headers });
    expect(total(response)).toEqual(['2', 'count=exact, end-marker']);
    expect(await response.text()).toMatch(/\{"\$end":true\}\n$/);
  });

  it.each([{}, { prefer: 'count=planned' }, { prefer: 'end-marker' }])(
    'is not counted for %j',
    async (headers) => {
      const response = await gateway.fetch('/o/recs/task?limit=1', { as: 'viewer', headers });
      expect(total(response)).toEqual([null, null]);
    },
  );
});

/** By their ids: two with an amount, one with null, one without. */
const TASKS: Readonly<Record<string, object>> = {
  absent: { name: 'T', manager: { value: 'usr-clerk' } },
  five: { name: 'T', amount: 5, manager: { value: 'usr-clerk' } },
  null: { name: 'T', amount: null, manager: { value: 'usr-clerk' } },
  one: { name: 'T', amount: 1, manager: { value: 'usr-clerk' } },
};

const UP = ['one', 'five', 'absent', 'null'];
const DOWN = ['five', 'one', 'null', 'absent'];

async function rest(path: string): Promise<string[]> {
  const response = await gateway.fetch(path, { as: 'admin' });
  return ((await response.json()) as { _id: string }[]).map(({ _id }) => _id);
}

/** In every order, up and down, on every door. */
describe('records without the value come last', () => {
  beforeEach(async () => {
    await gateway.sql.query(`delete from records where collection = 'task'`);
    for (const [id, data] of Object.entries(TASKS)) {
      await gateway.sql.query(
        `insert into records (domain, collection, id, data) values ('top', 'task', $1, $2)`,
        [id, JSON.stringify(data)],
      );
    }
  });

  it('in lists, pages and streams of REST', async () => {
    for (const [sort, ids] of [
      ['amount', UP],
      ['-amount', DOWN],
    ] as const) {
      expect(await rest(`/o/recs/task?sort=${sort}`)).toEqual(ids);
      expect(await rest(`/o/recs/task?stream=true&sort=${sort}`)).toEqual(ids);
      expect(await rest(`/o/recs/task?sort=${sort}&limit=1&skip=2`)).toEqual([ids[2]]);
    }
  });

  it('in the connections of GraphQL, forward and backward', async () => {
    for (const field of ['tasks(', 'records(collection: "task", ']) {
      for (const [direction, ids] of [
        ['ASCENDING', UP],
        ['DESCENDING', DOWN],
      ] as const) {
        const order = `orderBy: [{field: ${field === 'tasks(' ? 'AMOUNT' : '"amount"'}, direction: ${direction}}]`;
        expect(await paged(field, order, 'first')).toEqual(ids);
        expect(await paged(field, order, 'last')).toEqual([...ids].reverse());
      }
    }
  });

  it('among the records that point to one', async () => {
    for (const [direction, ids] of [
      ['ASCENDING', UP],
      ['DESCENDING', DOWN],
    ] as const) {
      const { pltfUser } = await ask(
        gateway,
        `{ pltfUser(id: "usr-clerk") { tasks(orderBy: [{field: AMOUNT, direction: ${direction}}]) { ` +
          'nodes { id } } } }',
      );
      expect(pltfUser.tasks.nodes.map((node: { id: string }) => node.id)).toEqual(ids);
    }
  });

  it('in the order of groups, null and absent being one group', async () => {
    for (const [direction, keys] of [
      ['ASCENDING', ['1', '5', null]],
      ['DESCENDING', ['5', '1', null]],
    ] as const) {
      const { tasksAggregate } = await ask(
        gateway,
        `{ tasksAggregate(groupBy: [AMOUNT], orderBy: [{field: AMOUNT, direction: ${direction}}]) { ` +
          'key { amount } } }',
      );
      expect(tasksAggregate.map((group: { key: { amount: unknown } }) => group.key.amount)).toEqual(keys);
    }
  });

  it('where a write takes the first of an order', async () => {
    const order = 'orderBy: [{field: AMOUNT, direction: DESCENDING}], limit: 1, allowAll: true';
    const { updateTasks } = await ask(
      gateway,
      `mutation { updateTasks(${order}, set: {name: "First"}) { records { id } } }`,
    );
    expect(updateTasks.records).toEqual([{ id: 'five' }]);
    const { deleteRecords } = await ask(
      gateway,
      'mutation { deleteRecords(collection: "task", orderBy: [{field: "amount", direction: ' +
        'DESCENDING}], limit: 3, allowAll: true) { records { id } } }',
    );
    expect(deleteRecords.records.map((record: { id: string }) => record.id)).toEqual(['five', 'one', 'null']);
    expect(await rest('/o/recs/task')).toEqual(['absent']);
  });

  it('in platform.db: find, findAndModify, update, agg and findDistinct', async () => {
    const code = `
      const found = [];
      await platform.db.findStream('task', {}, { sort: { amount: -1 } }, (record) => { found.push(record._id); });
      const piped = [];
      await platform.db.agg('task', [{ $sort: { amount: -1 } }], (document) => { piped.push(document._id); });
      const modified = await platform.db.findAndModify('task', {}, { amount: -1 }, { $set: { name: 'M' } }, { allowAll: true });
      await platform.db.update('task', {}, { $set: { name: 'U' } }, { sort: { amount: -1 }, allowAll: true });
      const values = await platform.db.findDistinct('task', 'amount', {});
      export default { found, piped, modified: modified._id, values };`;
    await ask(
      gateway,
      'mutation ($code: String!) { saveScript(script: {name: "orders", code: $code}) { name } }',
      {
        variables: { code },
      },
    );
    const { runScript } = await ask(
      gateway,
      'mutation { runScript(name: "orders") { value error { message } } }',
    );
    expect(runScript.error).toBeNull();
    expect(runScript.value).toMatchObject({
      found: DOWN,
      piped: DOWN,
      modified: 'five',
      values: [1, 5, null],
    });
    expect(await rest('/o/recs/task?oquery=name=U')).toEqual(['five']);
  });
});

/** All ids in the order they are read, a page of one at a time, from the front or from the end. */
async function paged(field: string, order: string, way: 'first' | 'last'): Promise<string[]> {
  const ids: string[] = [];
  let cursor = '';
  for (let page = 0; page <= Object.keys(TASKS).length; page++) {
    const place = cursor === '' ? '' : `, ${way === 'first' ? 'after' : 'before'}: "${cursor}"`;
    const { list } = await ask(
      gateway,
      `{ list: ${field}${order}, ${way}: 1${place}) { nodes { id } pageInfo { endCursor } } }`,
    );
    if (list.nodes.length === 0) break;
    ids.push(list.nodes[0].id);
    cursor = list.pageInfo.endCursor;
  }
  return ids;
}
