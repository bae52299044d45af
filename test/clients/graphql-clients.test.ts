/** Real clients against a real gateway: what they send and expect, not what we believe they do. */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cacheExchange, createClient, fetchExchange } from '@urql/core';
import { ClientError, GraphQLClient } from 'graphql-request';
import { createClient as createEventClient } from 'graphql-sse';
import { useGateway } from '../contract/gateway.js';
import { countSubscriptions } from '../contract/live.js';
import { eventually } from '../eventually.js';

const gateway = useGateway({ GRAPHQL_BATCHING: 'true' });

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'task', 'task-' || n, jsonb_build_object('name', 'Task ' || lpad(n::text, 2, '0'),
       'amount', n)
     from generate_series(1, 7) n`,
  );
});

const TASKS = `query Tasks($first: Int!, $after: String, $above: Decimal!) {
  tasks(
    first: $first, after: $after, where: { amount: { greaterThan: $above } }, orderBy: [{ field: NAME }]
  ) {
    totalCount
    nodes { id name amount }
    pageInfo { hasNextPage endCursor }
  }
}`;
const CREATE =
  'mutation Create($data: CreateTaskInput!) { createTask(data: $data) { id name amount version } }';
const MISSING = 'query Missing { task(id: "nobody") { name } me { userName } }';

interface TasksData {
  readonly tasks: {
    readonly totalCount: number;
    readonly nodes: readonly { readonly id: string; readonly name: string; readonly amount: string }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

interface CreateData {
  readonly createTask: { readonly id: string; readonly name: string; readonly amount: string };
}

type TasksPage = (variables: { first: number; after: string | null; above: string }) => Promise<TasksData>;

/** Page after page, as a list that is scrolled does. */
async function namesOfAllPages(page: TasksPage): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let after: string | null = null;
  for (;;) {
    const { tasks }: TasksData = await page({ first: 2, after, above: '2' });
    pages.push(tasks.nodes.map(({ name }) => name));
    if (!tasks.pageInfo.hasNextPage) return pages;
    after = tasks.pageInfo.endCursor;
  }
}

const PAGES = [['Task 03', 'Task 04'], ['Task 05', 'Task 06'], ['Task 07']];
const authorization = () => ({ authorization: `Bearer ${gateway.tokenOf('admin')}` });

describe('Apollo Client', () => {
  const uri = () => `${gateway.url}/graphql`;
  const client = (link: HttpLink | BatchHttpLink | ReturnType<PersistedQueryLink['concat']>) =>
    new ApolloClient({ link, cache: new InMemoryCache() });
  const plain = () => client(new HttpLink({ uri: uri(), headers: authorization() }));

  it('queries with variables, and goes on from page to page', async () => {
    const apollo = plain();
    const page: TasksPage = async (variables) => {
      const { data } = await apollo.query<TasksData>({ query: gql(TASKS), variables });
      if (!data) throw new Error('no data');
      return data;
    };
    expect(await namesOfAllPages(page)).toEqual(PAGES);
  });

  it('writes, and finds what it wrote by the id of its cache', async () => {
    const apollo = plain();
    const { data } = await apollo.mutate<CreateData>({
      mutation: gql(CREATE),
      variables: { data: { name: 'By Apollo', amount: '0.10' } },
    });
    expect(data?.createTask).toMatchObject({ name: 'By Apollo', amount: '0.10', version: 1 });
    expect(Object.keys(apollo.cache.extract() as object)).toContain(`Task:${data?.createTask.id}`);
  });

  it('is told of an error with its code, beside the data there is', async () => {
    const { data, error } = await plain().query<{ me: { userName: string } }>({
      query: gql(MISSING),
      errorPolicy: 'all',
    });
    expect(data?.me.userName).toBe('admin');
    expect(CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.code).toBe('NOT_FOUND');
    const wrong = plain().query({ query: gql('{ nothing }') });
    await expect(wrong).rejects.toThrow('Cannot query field "nothing"');
  });

  it.each([
    ['POST', false],
    ['GET', true],
  ])(
    'sends hashes for documents by %s, and the text when it is asked for',
    async (_, useGETForHashedQueries) => {
      const asked: string[] = [];
      const fetchNoted: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        const { errors } = (await response.clone().json()) as { errors?: { message: string }[] };
        asked.push(`${init?.method} ${errors?.[0]?.message ?? 'data'}`);
        return response;
      };
      const persisted = new PersistedQueryLink({
        sha256: (text: string) => createHash('sha256').update(text).digest('hex'),
        useGETForHashedQueries,
      });
      const apollo = client(
        persisted.concat(new HttpLink({ uri: uri(), headers: authorization(), fetch: fetchNoted })),
      );
      const query = gql(`query Hashed${useGETForHashedQueries} { me { userName } }`);
      for (let time = 1; time <= 2; time += 1) {
        const { data } = await apollo.query<{ me: { userName: string } }>({
          query,
          fetchPolicy: 'network-only',
        });
        expect(data?.me.userName).toBe('admin');
      }
      const method = useGETForHashedQueries ? 'GET' : 'POST';
      expect(asked).toEqual([`${method} PersistedQueryNotFound`, 'POST data', `${method} data`]);
    },
  );

  it('sends a batch where the gateway takes it', async () => {
    const apollo = client(
      new BatchHttpLink({ uri: uri(), headers: authorization(), batchMax: 3, batchInterval: 5 }),
    );
    const answers = await Promise.all([
      apollo.query<{ me: { userName: string } }>({ query: gql('query A { me { userName } }') }),
      apollo.query<TasksData>({ query: gql(TASKS), variables: { first: 1, above: '6' } }),
      apollo.query({ query: gql('{ nothing }'), errorPolicy: 'all' }),
    ]);
    expect(answers[0].data?.me.userName).toBe('admin');
    expect(answers[1].data?.tasks.totalCount).toBe(1);
    expect(answers[2].error?.message).toContain('nothing');
  });
});

describe('urql', () => {
  const urql = (preferGetMethod: boolean | 'force' = false) =>
    createClient({
      url: `${gateway.url}/graphql`,
      exchanges: [cacheExchange, fetchExchange],
      fetchOptions: () => ({ headers: authorization() }),
      preferGetMethod,
    });

  it.each([
    ['POST', false],
    ['GET', 'force'],
  ] as const)('queries with variables by %s, and goes on from page to page', async (_, preferGetMethod) => {
    const client = urql(preferGetMethod);
    const page: TasksPage = async (variables) => {
      const { data, error } = await client.query<TasksData>(TASKS, variables).toPromise();
      if (!data) throw error;
      return data;
    };
    expect(await namesOfAllPages(page)).toEqual(PAGES);
  });

  it('writes, and reads anew what it had in its cache', async () => {
    const client = urql();
    const variables = { first: 1, above: '0.9' };
    const count = async () =>
      (await client.query<TasksData>(TASKS, variables).toPromise()).data?.tasks.totalCount;
    expect(await count()).toBe(7);
    const { data } = await client
      .mutation<CreateData>(CREATE, { data: { name: 'By urql', amount: '1.5' } })
      .toPromise();
    expect(data?.createTask.name).toBe('By urql');
    expect(await count()).toBe(8);
  });

  it('is told of an error with its code, beside the data there is', async () => {
    const { data, error } = await urql().query(MISSING, {}).toPromise();
    expect(data).toEqual({ task: null, me: expect.objectContaining({ userName: 'admin' }) });
    expect(error?.graphQLErrors[0]?.extensions.code).toBe('NOT_FOUND');
    const wrong = await urql().query('{ nothing }', {}).toPromise();
    expect(wrong.error?.graphQLErrors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('graphql-request', () => {
  const client = () => new GraphQLClient(`${gateway.url}/graphql`, { headers: authorization() });

  it('queries with variables, and goes on from page to page', async () => {
    const page: TasksPage = (variables) => client().request<TasksData>(TASKS, variables);
    expect(await namesOfAllPages(page)).toEqual(PAGES);
  });

  it('writes', async () => {
    const variables = { data: { name: 'By graphql-request', amount: '1' } };
    const { createTask } = await client().request<CreateData>(CREATE, variables);
    expect(createTask.name).toBe('By graphql-request');
  });

  it('is told of an error with its code, beside the data there is', async () => {
    const error: unknown = await client()
      .request(MISSING)
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof ClientError)) throw new Error('expected an error');
    expect(error.response.status).toBe(200);
    expect(error.response.errors?.[0]?.extensions?.code).toBe('NOT_FOUND');
    expect(error.response.data).toEqual({ task: null, me: { userName: 'admin' } });
  });

  it('sends a batch', async () => {
    const answers = await client().batchRequests<
      [{ data: { me: { userName: string } } }, { data: TasksData }]
    >([{ document: '{ me { userName } }' }, { document: TASKS, variables: { first: 1, above: '6.5' } }]);
    expect(answers[0].data.me.userName).toBe('admin');
    expect(answers[1].data.tasks.nodes).toHaveLength(1);
  });
});

describe('graphql-sse', () => {
  it('hears of changes, and is told why a subscription is refused', async () => {
    const client = createEventClient({
      url: `${gateway.url}/graphql`,
      headers: authorization(),
      retryAttempts: 0,
    });
    const events = client.iterate<{ readonly taskChanged: { readonly id: string } }>({
      query: 'subscription { taskChanged { id } }',
    });
    const first = events.next();
    await eventually(async () => (await countSubscriptions(gateway)) === 1);
    await gateway.fetch('/o/task', {
      as: 'admin',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ _id: 'heard', name: 'Chalk' }),
    });
    expect((await first).value).toEqual({ data: { taskChanged: { id: 'heard' } } });
    await events.return?.();
    const refused = client.iterate({ query: 'subscription { nothing }' });
    expect((await refused.next()).value).toMatchObject({
      errors: [{ message: expect.stringContaining('Cannot query field') }],
    });
    expect((await refused.next()).done).toBe(true);
    client.dispose();
  });
});

/** Reads the schema as the clients of Python do, and checks an operation against it. */
const PYTHON = `
import json, sys, urllib.request, graphql
def post(query):
    headers = {'Content-Type': 'application/json', 'Authorization': 'Bearer ' + sys.argv[2]}
    request = urllib.request.Request(sys.argv[1], json.dumps({'query': query}).encode(), headers)
    return json.load(urllib.request.urlopen(request))['data']
schema = graphql.build_client_schema(post(graphql.get_introspection_query()))
faults = graphql.validate(schema, graphql.parse('{ tasks(first: 1) { nodes { nam } } }'))
found = post('{ tasks(first: 1) { nodes { name } } }')['tasks']['nodes']
print(json.dumps([graphql.version, faults[0].message, len(found)]))
`;
const hasGraphqlCore = spawnSync('python3', ['-c', 'import graphql']).status === 0;

(hasGraphqlCore ? it : it.skip)('graphql-core of Python loads the schema', async () => {
  const sent = ['-c', PYTHON, `${gateway.url}/graphql`, gateway.tokenOf('admin')];
  const { stdout } = await promisify(execFile)('python3', sent);
  const [version, fault, found] = JSON.parse(stdout);
  expect(version).toMatch(/^3\./);
  expect([fault, found]).toEqual([expect.stringContaining("Did you mean 'name'?"), 1]);
});
