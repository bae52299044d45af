/**
 * Composes the gateway with a second subgraph and asks the supergraph by Apollo's gateway, with a credential
 * that is passed on: `node try-supergraph.mjs <url> <token> <weaker token>`. Prints what was seen, and ends
 * with 1 where something else is seen than what is written here.
 */
import assert from 'node:assert/strict';
import { ApolloGateway, IntrospectAndCompose, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

const [url, token, weakToken] = process.argv.slice(2);

/** Buses of students: it knows nothing of a student but the id. */
const BUSES = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  type Query {
    buses: [Bus!]!
  }
  type Bus @key(fields: "number") {
    number: ID!
    driver: PltfUser
    riders: [Registration!]!
  }
  type PltfUser @key(fields: "id", resolvable: false) {
    id: ID!
  }
  type Registration @key(fields: "id") {
    id: ID!
    seat: Int
  }
`);

async function firstStudents() {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ registrations(first: 50) { nodes { id name class } } }' }),
  });
  return (await response.json()).data.registrations.nodes;
}

const students = await firstStudents();
assert.equal(students.length, 50);
const seats = new Map(students.map(({ id }, index) => [id, index + 1]));

const buses = new ApolloServer({
  schema: buildSubgraphSchema([
    {
      typeDefs: BUSES,
      resolvers: {
        Query: {
          buses: () => [
            {
              number: '1',
              driver: { __typename: 'PltfUser', id: 'nobody' },
              riders: [...students, { id: 'left-long-ago' }].map(({ id }) => ({
                __typename: 'Registration',
                id,
              })),
            },
          ],
        },
        Registration: { seat: ({ id }) => seats.get(id) ?? null },
      },
    },
  ]),
  // Apollo's gateway would use a connection anew in the moment in which this server ends it as idle.
  plugins: [
    {
      requestDidStart: async () => ({
        willSendResponse: async ({ response }) => {
          response.http.headers.set('connection', 'close');
        },
      }),
    },
  ],
});
const { url: busesUrl } = await startStandaloneServer(buses, { listen: { host: '127.0.0.1', port: 0 } });

/** What was sent to the gateway for the operation that runs. */
const sent = [];

class PassedOn extends RemoteGraphQLDataSource {
  willSendRequest({ request, context }) {
    if (this.url.startsWith(url)) sent.push(request.query);
    if (context.authorization) request.http.headers.set('authorization', context.authorization);
  }
}

const gateway = new ApolloGateway({
  supergraphSdl: new IntrospectAndCompose({
    subgraphs: [
      { name: 'campus', url: `${url}/graphql` },
      { name: 'buses', url: busesUrl },
    ],
    introspectionHeaders: { authorization: `Bearer ${token}` },
  }),
  buildService: ({ url: serviceUrl }) => new PassedOn({ url: serviceUrl }),
});
const supergraph = new ApolloServer({ gateway });
await supergraph.start();

async function ask(query, as = token) {
  sent.length = 0;
  const contextValue = as === undefined ? {} : { authorization: `Bearer ${as}` };
  const { body } = await supergraph.executeOperation({ query }, { contextValue });
  return body.singleResult;
}

const seen = [];
function expectSeen(what, actual, expected) {
  assert.deepEqual(actual, expected, what);
  seen.push(what);
}

const riders = await ask('{ buses { number riders { seat name class } } }');
assert.equal(riders.errors, undefined, JSON.stringify(riders.errors));
expectSeen(
  'the records of 51 riders by one request',
  [sent.length, riders.data.buses[0].riders.length],
  [1, 51],
);
expectSeen(
  'names of the gateway beside seats of the other subgraph, and null for who is not there',
  riders.data.buses[0].riders.map(({ seat, name, class: of }) => [seat, name, of]),
  [...students.map(({ id, name, class: of }) => [seats.get(id), name, of]), [null, null, null]],
);
const driver = await ask('{ buses { driver { name } } }');
expectSeen('a driver who is no user has no name', { ...driver.data.buses[0].driver }, { name: null });

const both = await ask('{ registrations(first: 2) { nodes { id seat } pageInfo { hasNextPage } } }');
expectSeen(
  'seats of the other subgraph in a page of the gateway',
  both.data.registrations.nodes.map(({ id, seat }) => [id, seat]),
  students.slice(0, 2).map(({ id }) => [id, seats.get(id)]),
);

const hidden = await ask('{ buses { riders { dob } } }', weakToken);
expectSeen(
  'a field that is hidden from the caller is refused',
  hidden.errors[0].extensions.code,
  'FORBIDDEN',
);
const nobody = await ask('{ buses { riders { name } } }', null);
expectSeen('without a credential nothing is told', nobody.errors[0].extensions.code, 'UNAUTHENTICATED');

await supergraph.stop();
await buses.stop();
for (const what of seen) console.log(`seen: ${what}`);
