/** Records without the value come last in every order, up and down, on every door. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway();

/** By their ids: two with an amount, one with null, one without. */
const TASKS: Readonly<Record<string, object>> = {
  absent: { name: 'T', manager: { value: 'usr-clerk' } },
  five: { name: 'T', amount: 5, manager: { value: 'usr-clerk' } },
  null: { name: 'T', amount: null, manager: { value: 'usr-clerk' } },
  one: { name: 'T', amount: 1, manager: { value: 'usr-clerk' } },
};

beforeEach(async () => {
  await gateway.sql.query(`delete from records where collection = 'task'`);
  for (const [id, data] of Object.entries(TASKS)) {
    await gateway.sql.query(
      `insert into records (domain, collection, id, data) values ('top', 'task', $1, $2)`,
      [id, JSON.stringify(data)],
    );
  }
});

const UP = ['one', 'five', 'absent', 'null'];
const DOWN = ['five', 'one', 'null', 'absent'];

async function rest(path: string): Promise<string[]> {
  const response = await gateway.fetch(path, { as: 'admin' });
  return ((await response.json()) as { _id: string }[]).map(({ _id }) => _id);
}

describe('records without the value come last', () => {
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
