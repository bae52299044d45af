/**
 * Hostile names and values through every door, and typed requests by every caller, with PostgreSQL's log
 * watched.
 */
import { beforeAll, expect } from '@jest/globals';
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from 'graphql';
import type { Random } from '../../src/school/demo/random.js';
import { ROLES, type Role, useGateway } from '../contract/gateway.js';
import { ask } from '../contract/graphql.js';
import { ATTEMPTS, HOSTILE_TEXTS, prepareForAttempts } from '../hostile-attempts.js';
import { type StatementErrors, watchStatementErrors } from '../statement-errors.js';
import { typedOperation, typedRequest } from '../typed-requests.js';
import { campaign } from './campaign.js';

const gateway = useGateway({ FEDERATION: 'true', LOG_LEVEL: 'error' });
const HOSTILE_A_ROUND = 100;
const TYPED_A_ROUND = 400;
/** So many, in a row, are looked for in PostgreSQL's log together. */
const TYPED_AT_A_TIME = 20;
const CALLERS = [...ROLES, undefined] as const;
let errors: StatementErrors | undefined;
let schema: GraphQLSchema | undefined;
const openapi = new Map<Role | undefined, unknown>();

beforeAll(async () => {
  await prepareForAttempts(gateway);
  schema = buildClientSchema(await ask(gateway, getIntrospectionQuery({ descriptions: false })));
  for (const as of CALLERS) openapi.set(as, await (await gateway.fetch('/openapi.json', { as })).json());
  errors = await watchStatementErrors(String(gateway.sql.options.connectionString));
});

campaign(
  'answers every hostile or typed request itself, and lets none fail in PostgreSQL',
  async ({ random, count }) => {
    for (let attempt = 0; attempt < HOSTILE_A_ROUND; attempt += 1) {
      count(`hostile attempts answered ${await attemptHostile(random)}`);
    }
    for (let batch = 0; batch < TYPED_A_ROUND / TYPED_AT_A_TIME; batch += 1) {
      const sent: string[] = [];
      for (let nth = 0; nth < TYPED_AT_A_TIME; nth += 1) {
        const { written, status } = await sendTyped(random);
        sent.push(`${status} ${written}`);
        // Too busy is an answer too.
        if (status >= 500 && status !== 503) throw new Error(`${status}: ${written}\n${gateway.log.at(-1)}`);
        count(`typed requests answered ${Math.floor(status / 100)}xx`);
      }
      const failed = (await errors?.list()) ?? [];
      if (failed.length > 0) throw new Error(`${failed.join('\n')}\nafter one of\n${sent.join('\n')}`);
    }
    expect(await errors?.list()).toEqual([]);
  },
);

async function attemptHostile(random: Random): Promise<string> {
  const { door, send } = random.pick(ATTEMPTS as [(typeof ATTEMPTS)[number], ...(typeof ATTEMPTS)[number][]]);
  const parts = Array.from({ length: random.integer(1, 3) }, () => random.pick([...HOSTILE_TEXTS]));
  const text = parts.join(random.isChance(0.5) ? '' : 'a');
  const status = await send(gateway, text);
  if (status >= 500) throw new Error(`${door} answered ${status} to ${JSON.stringify(text.slice(0, 200))}`);
  const failed = (await errors?.list()) ?? [];
  if (failed.length > 0)
    throw new Error(`${door} with ${JSON.stringify(text.slice(0, 200))}: ${failed.join('; ')}`);
  return `${Math.floor(status / 100)}xx`;
}

async function sendTyped(random: Random): Promise<{ readonly written: string; readonly status: number }> {
  const as = random.pick([...CALLERS]);
  const caller = as ?? 'nobody';
  if (random.isChance(0.5) && schema !== undefined) {
    const body = JSON.stringify(typedOperation(schema, random));
    const headers = { 'content-type': 'application/json' };
    const answer = await gateway.fetch('/graphql', { method: 'POST', headers, body, as });
    const { errors: told = [] } = (await answer.json()) as {
      errors?: { extensions?: { status?: number } }[];
    };
    const status = Math.max(answer.status, ...told.map(({ extensions }) => extensions?.status ?? 0));
    return { written: `GraphQL by ${caller}: ${body}`, status };
  }
  const { method, path, headers, body } = typedRequest(openapi.get(as), random);
  const init = { method, headers, ...(body !== undefined && method !== 'GET' && { body }), as };
  const answer = await gateway.fetch(path, init);
  await answer.arrayBuffer();
  return { written: `${method} ${path} by ${caller}: ${body ?? ''}`, status: answer.status };
}
