/** Every list that comes in pages: `nodes` and `edges`, forward and backward, and where a page stands. */

import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import { useGateway } from './gateway.js';
import { type Answered, ask, besideExecuted, send, statementsOf } from './graphql.js';

const gateway = useGateway();

/** The lists of the tests, each of five; `nodes` are read by `field`. */
const LISTS = {
  records: { field: 'records(collection: "task", #)', key: 'id' },
  tasks: { field: 'tasks(orderBy: [{ field: NAME, direction: DESCENDING }], #)', key: 'id' },
  'what points to a record': { field: 'pltfUser(id: "usr-clerk") { tasks(#)', key: 'id', closing: '}' },
  files: { field: 'files(#)', key: 'id' },
  messages: { field: 'messages(#)', key: 'id' },
  imports: { field: 'imports(#)', key: 'id' },
  accounts: { field: 'accounts(#)', key: 'id' },
  'the history of a record': { field: 'recordHistory(collection: "task", id: "task-1", #)', key: 'version' },
  'the deliveries of a webhook': { field: 'webhookDeliveries(id: "WEBHOOK", #)', key: 'id' },
} as const;

let webhookId = '';

interface Place {
  readonly first?: number;
  readonly last?: number;
  readonly after?: string | null;
  readonly before?: string | null;
}

interface Page {
  readonly ids: readonly string[];
  readonly cursors: readonly string[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

function documentOf(list: keyof typeof LISTS): string {
  const { field, key, closing = '' }: { field: string; key: string; closing?: string } = LISTS[list];
  const placed = field.replace('WEBHOOK', webhookId);
  const asked = placed.replace('#', 'first: $first, last: $last, after: $after, before: $before');
  return `query($first: Int, $last: Int, $after: String, $before: String) { ${asked} { nodes { ${key} }
    edges { cursor node { ${key} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
    ${closing} }`;
}

async function pageOf(
  list: keyof typeof LISTS,
  place: Place,
  write = (query: string) => query,
): Promise<Page> {
  const { plainly: _, ...data } = await ask(gateway, write(documentOf(list)), { variables: place });
  const [found]: readonly Answered[] = Object.values(data);
  const connection = found.nodes === undefined ? found.tasks : found;
  const ids = (nodes: readonly object[]) => nodes.map((node) => String(Object.values(node)[0]));
  const { nodes, edges, pageInfo } = connection;
  expect(ids(edges.map((edge: { node: object }) => edge.node))).toEqual(ids(nodes));
  return { ids: ids(nodes), cursors: edges.map((edge: { cursor: string }) => edge.cursor), pageInfo };
}

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'task-' || n, jsonb_build_object('name', 'Task ' || n, 'manager',
       '{"value": "usr-clerk", "label": "C"}'::jsonb)
     from generate_series(1, 5) n`,
  );
  for (let count = 1; count < 6; count += 1) {
    const data = await ask(
      gateway,
      `mutation { updateTask(id: "task-1", data: { amount: "${count}" }) { id }
        createFile(data: { name: "${count}.csv", contentType: "text/csv", content: "X2lkCmEK" }) { id }
        sendEmail(data: { to: ["a@example.org"], subject: "${count}", text: "x" }) { id } }`,
    );
    await ask(gateway, 'mutation($id: ID!) { createImport(collection: "task", fileId: $id) { id } }', {
      variables: { id: data.createFile.id },
    });
  }
  const made = await ask(
    gateway,
    `mutation { createWebhook(data: { name: "Elsewhere", url: "https://example.org/hook",
      events: [{ collection: "task", operations: ["created"] }] }) { webhook { id } } }`,
  );
  webhookId = made.createWebhook.webhook.id;
  await gateway.sql.query(
    `insert into webhook_deliveries (webhook_id, event, next_attempt_at)
     select $1, '{"type": "test"}', now() + interval '1 day' from generate_series(1, 5)`,
    [webhookId],
  );
});

describe('the schema', () => {
  let schema: GraphQLSchema;

  beforeAll(async () => {
    schema = buildSchema(await readFile('schema/schema.graphql', 'utf8'));
  });

  const objects = () => Object.values(schema.getTypeMap()).filter(isObjectType);
  const isConnection = (type: GraphQLObjectType) => type.name.endsWith('Connection');

  it('has nodes, edges and a pageInfo in every connection', () => {
    for (const type of objects().filter(isConnection)) {
      const { nodes, edges, pageInfo } = type.getFields();
      expect([type.name, Boolean(nodes && edges), String(pageInfo?.type)]).toEqual([
        type.name,
        true,
        'PageInfo!',
      ]);
      const edge = edges && getNamedType(edges.type);
      if (!isObjectType(edge)) throw new Error(`${type.name} has edges of no type`);
      expect(String(edge.getFields().cursor?.type)).toBe('String!');
      expect(nodes && getNamedType(nodes.type)).toBe(getNamedType(edge.getFields().node?.type));
    }
  });

  it('takes first, after, last and before wherever it gives a connection', () => {
    const fields = objects().flatMap((type) =>
      Object.values(type.getFields()).map((field) => ({ type, field })),
    );
    const connections = fields.filter(({ field }) => {
      const named = getNamedType(field.type);
      return isObjectType(named) && isConnection(named);
    });
    expect(connections.length).toBeGreaterThan(20);
    for (const { type, field } of connections) {
      const names = field.args.map(({ name }) => name);
      expect([type.name, field.name, names]).toEqual([
        type.name,
        field.name,
        expect.arrayContaining(['first', 'after', 'last', 'before']),
      ]);
    }
  });
});

describe.each(Object.keys(LISTS) as (keyof typeof LISTS)[])('%s', (list) => {
  it('is read forward and backward to the same list', async () => {
    const { ids, cursors, pageInfo } = await pageOf(list, { first: 50 });
    expect(ids.length).toBeGreaterThanOrEqual(5);
    expect(pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: cursors[0],
      endCursor: cursors.at(-1),
    });

    const forward: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: Page = await pageOf(list, { first: 2, after });
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      forward.push(...page.ids);
      after = page.pageInfo.endCursor;
      more = page.pageInfo.hasNextPage;
    }
    expect(forward).toEqual(ids);

    const backward: string[] = [];
    for (let before: string | null = null, more = true; more; ) {
      const page: Page = await pageOf(list, { last: 2, before });
      expect(page.pageInfo.hasNextPage).toBe(before !== null);
      backward.unshift(...page.ids);
      before = page.pageInfo.startCursor;
      more = page.pageInfo.hasPreviousPage;
    }
    expect(backward).toEqual(ids);
  });

  it('is read between two cursors, and beside a field that graphql-js executes', async () => {
    const { ids, cursors } = await pageOf(list, { first: 50 });
    const [first, , , last] = cursors;
    const between = { after: first ?? '', before: last ?? '' };
    const page = await pageOf(list, { first: 10, ...between });
    expect(page.ids).toEqual(ids.slice(1, 3));
    expect(await pageOf(list, { last: 1, ...between })).toMatchObject({ ids: ids.slice(2, 3) });
    for (const place of [{ first: 2 }, { last: 2 }, { last: 2, before: cursors[4] ?? null }]) {
      expect(await pageOf(list, place, besideExecuted)).toEqual(await pageOf(list, place));
    }
  });

  it('refuses a cursor that is none, and both sizes at once', async () => {
    for (const place of [{ after: '%' }, { before: '%' }, { first: 1, last: 1 }, { last: -1 }]) {
      const { errors } = await send(gateway, { query: documentOf(list), variables: place, as: 'admin' });
      expect([place, errors[0]?.extensions.status]).toEqual([place, 400]);
    }
  });
});

it('reads a page with its edges by one statement', async () => {
  for (const list of ['records', 'tasks', 'what points to a record'] as const) {
    // What the gateway does beside it, for webhooks and jobs, is no part of the page.
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      counts.push((await statementsOf(() => pageOf(list, { last: 2 }))).length);
    }
    expect([list, Math.min(...counts)]).toEqual([list, 1]);
  }
});
