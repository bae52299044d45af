/** The rules of docs/clients/typescript.md for the normalising caches of urql and Apollo Client. */
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { describe, expect, it, jest } from '@jest/globals';
import { createClient, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { apolloCacheSettings } from '../../docs/examples/typescript/apollo-cache.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { ask } from '../contract/graphql.js';

const gateway = useDemoGateway({ students: 60 });
const authorization = () => ({ authorization: `Bearer ${gateway.tokenOf('admin')}` });

const DASHBOARD = `query Dashboard($session: String!) {
  strength(session: $session) {
    rows { id class section strength }
    totals { strength boys }
    warnings { reason count }
    parameters
  }
  studentAttendance(class: "5", start: "2026-11-02", end: "2026-11-06") {
    rows { id name days { day status } }
  }
  tasks(first: 3) { totalCount nodes { id name manager { id label } } pageInfo { hasNextPage endCursor } }
  tasksAggregate { count amount { sum } }
}`;
/** Other fields of the same objects. */
const OTHER = `query Other($session: String!) {
  strength(session: $session) { rows { id boys } totals { girls } warnings { ids } currency }
  tasks(first: 3) { nodes { id amount } pageInfo { hasNextPage } }
}`;
/** Fields that both have read, of the same objects. */
const BOTH = `query Both($session: String!) {
  strength(session: $session) { rows { id class boys strength } totals { strength girls } currency }
  tasks(first: 3) { totalCount nodes { id name amount } }
}`;
const WITHOUT_IDS = `query Without($session: String!) {
  strength(session: $session) { rows { class boys } totals { girls } }
  tasks(first: 3) { nodes { name } }
}`;
const SESSION = { session: '2026-27' };

describe('the cache of urql', () => {
  const warned: string[] = [];
  const connect = () =>
    createClient({
      url: `${gateway.url}/graphql`,
      fetchOptions: () => ({ headers: authorization() }),
      exchanges: [
        cacheExchange({
          keys: new Proxy({}, { get: () => (data: { readonly id?: string }) => data.id ?? null }),
          logger: (severity, message) => {
            if (severity !== 'debug') warned.push(message);
          },
        }),
        fetchExchange,
      ],
      preferGetMethod: false,
    });

  it('warns of nothing, and merges what was read in parts', async () => {
    const client = connect();
    const first = await client.query(DASHBOARD, SESSION).toPromise();
    expect(first.error).toBeUndefined();
    expect((await client.query(OTHER, SESSION).toPromise()).error).toBeUndefined();
    const kept = { requestPolicy: 'cache-only' } as const;
    expect((await client.query(DASHBOARD, SESSION, kept).toPromise()).data).toEqual(first.data);
    const both = await client.query(BOTH, SESSION, kept).toPromise();
    expect(both.data).toEqual(await ask(gateway, BOTH, { variables: SESSION }));
    expect((await client.query(WITHOUT_IDS, SESSION).toPromise()).error).toBeUndefined();
    expect(warned).toEqual([]);
  });

  it('separates rows of other parameters', async () => {
    const client = connect();
    const query = `query Of($start: String!) {
      studentAttendance(class: "5", start: $start, end: "2026-11-06") { rows { id present } }
    }`;
    const read = async (start: string, requestPolicy: 'cache-only' | 'cache-first') =>
      (await client.query(query, { start }, { requestPolicy }).toPromise()).data;
    const week = await read('2026-11-02', 'cache-first');
    expect(week.studentAttendance.rows.length).toBeGreaterThan(0);
    expect(await read('2026-11-06', 'cache-first')).not.toEqual(week);
    expect(await read('2026-11-02', 'cache-only')).toEqual(week);
  });
});

describe('the cache of Apollo Client', () => {
  it('warns of nothing, and merges what was read in parts', async () => {
    const warnings = [jest.spyOn(console, 'warn'), jest.spyOn(console, 'error')];
    const schema = await ask(gateway, getIntrospectionQuery());
    const cache = new InMemoryCache(
      apolloCacheSettings(buildClientSchema(schema as unknown as IntrospectionQuery)),
    );
    const link = new HttpLink({ uri: `${gateway.url}/graphql`, headers: authorization() });
    const client = new ApolloClient({ cache, link });
    const first = await client.query({ query: gql(DASHBOARD), variables: SESSION });
    await client.query({ query: gql(OTHER), variables: SESSION });
    expect(cache.readQuery({ query: gql(DASHBOARD), variables: SESSION })).toEqual(first.data);
    const merged = cache.readQuery({ query: gql(BOTH), variables: SESSION });
    expect(JSON.parse(JSON.stringify(merged, withoutTypename))).toEqual(
      await ask(gateway, BOTH, { variables: SESSION }),
    );
    await client.query({ query: gql(WITHOUT_IDS), variables: SESSION });
    for (const warning of warnings) expect(warning).not.toHaveBeenCalled();
    client.stop();
  });
});

function withoutTypename(key: string, value: unknown): unknown {
  return key === '__typename' ? undefined : value;
}
