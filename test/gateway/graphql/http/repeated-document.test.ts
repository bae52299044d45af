/** What becomes of a document that was answered before, when a part of the gateway fails on the way. */
import { ApolloServer } from '@apollo/server';
import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { buildSchema } from 'graphql';
import { systemPrincipal } from '../../../../src/base/model/scope.js';
import { executionPlugin } from '../../../../src/gateway/graphql/http/execution-plugin.js';
import { serveGraphql } from '../../../../src/gateway/graphql/http/serve-graphql.js';
import { formatGraphqlError } from '../../../../src/gateway/graphql/operation/graphql-errors.js';
import { Introspections } from '../../../../src/gateway/graphql/operation/introspections.js';
import type { OperationOptions } from '../../../../src/gateway/graphql/operation/operation.js';
import type { GraphqlRequest } from '../../../../src/gateway/graphql/operation/prepared-operation.js';
import { ServedSchema } from '../../../../src/gateway/graphql/operation/served-schema.js';
import { PersistedQueries } from '../../../../src/gateway/graphql/persisted/registered-operations.js';
import { RequestNotes } from '../../../../src/gateway/resolvers/request-notes.js';

const SCOPE = {
  domain: { id: 'top', name: 'Top', parentId: undefined, timeZone: 'UTC' },
  principal: systemPrincipal('test', []),
  call: { requestId: 'r-1' },
};

interface Faults {
  /** The n-th operation whose costs cannot be counted. */
  readonly failsAt?: number;
  /** What tells a client of them. */
  readonly describe?: OperationOptions['costs']['describe'];
}

function tellCosts() {
  return { requested: 1, limit: 1 };
}

/** A gateway of one field. */
async function openEndpoint({ failsAt = 0, describe: tell = tellCosts }: Faults) {
  const faults: unknown[] = [];
  let counted = 0;
  const operations: OperationOptions = {
    costs: {
      assertAffordable: () => {
        counted += 1;
        if (counted === failsAt) throw new TypeError('the costs are broken');
        return 1;
      },
      costOf: () => 1,
      describe: tell,
    },
    introspectionRoles: [],
    introspections: new Introspections(),
    store: { transaction: unused },
    database: { transaction: unused },
    // The schema has no collections, so that there is nothing to note.
    fieldMeter: { note: unused },
    onFault: (error) => faults.push(error),
  };
  const schema = buildSchema('type Query { greeting(to: String!): String! }');
  const field = schema.getQueryType()?.getFields().greeting;
  if (field) field.resolve = (_source, { to }) => `Hello, ${to}`;
  const reachOf = () => {
    throw new Error('everything is shown');
  };
  const served = new ServedSchema({
    ...{ schema, storedFields: new Map(), rules: [], maxTokens: 100 },
    ...{ needed: new Map(), reachOf },
  });
  const apollo = new ApolloServer<GraphqlRequest>({
    schema,
    formatError: formatGraphqlError,
    documentStore: null,
    plugins: [executionPlugin(served, operations)],
  });
  await apollo.start();
  const app = fastify();
  serveGraphql(app, {
    current: () => ({ apollo, served }),
    callerOf: ({ id, ip }) => ({
      context: {
        scope: SCOPE,
        requestId: id,
        address: ip,
        askedDomain: undefined,
        idempotencyKey: undefined,
        signal: new AbortController().signal,
      },
      notes: new RequestNotes('/graphql'),
    }),
    operations,
    live: {
      isFull: true,
      open: () => {
        throw new Error('no live data here');
      },
    },
    persisted: new PersistedQueries({ maxLength: 1000 }),
    registered: undefined,
    settings: {
      graphqlMaxBatch: 1,
      graphqlMaxTokens: 100,
      anyOperationRoles: [],
      serverTiming: false,
      bodyMaxMembers: 100,
    },
  });
  const ask = async (to: unknown, extensions = {}) => {
    const query = 'query Greet($to: String!) { greeting(to: $to) }';
    const payload = { query, variables: { to }, extensions };
    const answer = await app.inject({ method: 'POST', url: '/graphql', payload });
    return { status: answer.statusCode, body: answer.json() };
  };
  return { ask, faults, close: () => Promise.all([app.close(), apollo.stop()]) };
}

function unused(): never {
  throw new Error('no transaction is opened here');
}

const MASKED = {
  errors: [
    {
      message: 'Internal server error',
      extensions: { code: 'INTERNAL', status: 500, requestId: expect.any(String) },
    },
  ],
};

describe('a document that is sent again', () => {
  it.each([1, 2])('tells of a fault of ours, the first time as any later one (%s)', async (failsAt) => {
    const { ask, faults, close } = await openEndpoint({ failsAt });
    const answers = [await ask('you'), await ask('you'), await ask('you')];
    await close();
    const failed = answers[failsAt - 1];
    expect(failed?.status).toBe(500);
    expect(failed?.body).toEqual(MASKED);
    expect(faults).toEqual([expect.objectContaining({ message: 'the costs are broken' })]);
    const others = answers.filter((answer) => answer !== failed);
    expect(others).toEqual([
      { status: 200, body: { data: { greeting: 'Hello, you' } } },
      { status: 200, body: { data: { greeting: 'Hello, you' } } },
    ]);
  });

  it('tells of a fault of ours once it runs, the first time and the second', async () => {
    const { ask, faults, close } = await openEndpoint({
      describe: () => {
        throw new TypeError('the costs cannot be told');
      },
    });
    const answers = [await ask('you', { cost: true }), await ask('you', { cost: true })];
    await close();
    expect(answers).toEqual([
      { status: 500, body: MASKED },
      { status: 500, body: MASKED },
    ]);
    expect(faults.map(String)).toEqual(Array(2).fill('TypeError: the costs cannot be told'));
  });

  it('says the same of variables that do not fit, the first time and the second', async () => {
    const { ask, faults, close } = await openEndpoint({});
    const answers = [await ask(1), await ask(1)];
    await close();
    expect(answers[0]?.status).toBe(400);
    expect(answers[0]?.body.errors).toEqual([
      {
        message: 'Variable "$to" got invalid value 1; String cannot represent a non string value: 1',
        locations: [{ line: 1, column: 13 }],
        extensions: { code: 'BAD_USER_INPUT', status: 400, requestId: expect.any(String) },
      },
    ]);
    const [first, second] = answers.map(({ status, body }) => ({ status, errors: withoutIds(body.errors) }));
    expect(second).toEqual(first);
    expect(faults).toEqual([]);
  });
});

function withoutIds(errors: readonly { readonly extensions: object }[]) {
  return errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId: undefined } }));
}
