/**
 * Many writes at once that ask a script before they are made: they wait without a connection, and nobody else
 * waits for them.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { type Answered, ask, send } from './graphql.js';

const gateway = useGateway({
  POOL_SIZE: '4',
  SCRIPT_BEFORE_TIMEOUT_MS: '3000',
  SCRIPT_QUEUED_BEFORE_RUNS: '16',
});

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';

async function save(collection: string, code: string): Promise<void> {
  const script = {
    ...{ name: `ask-${collection}`, code, serviceRoles: ['admin'] },
    before: [{ collection, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
  };
  await ask(gateway, SAVE, { variables: { script } });
}

const create = (collection: string, data: object, headers: Readonly<Record<string, string>> = {}) =>
  gateway.fetch(`/o/${collection}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(data),
    as: 'admin',
  });

const read = async () => (await gateway.fetch('/o/recs/holiday?limit=1', { as: 'viewer' })).status;

beforeAll(async () => {
  await save('task', 'export default () => { const end = Date.now() + 1200; while (Date.now() < end); }');
  await save('fee_head', 'export default ({ record }) => ({ ...record, name: record.name + "!" })');
});

/** Thirty-two of a kind at once, and ten reads beside them. */
async function crowd(write: (n: number) => Promise<number>): Promise<{ writes: number[]; reads: number[] }> {
  const writes = Promise.all(Array.from({ length: 32 }, (_, n) => write(n)));
  const reads: number[] = [];
  for (let n = 0; n < 10; n++) reads.push(await read());
  return { writes: await writes, reads };
}

const TEN_READS = Array(10).fill(200);

describe('thirty-two writes at once whose script takes a second', () => {
  const slow: readonly (readonly [string, (n: number) => Promise<number>])[] = [
    ['plain', async (n) => (await create('task', { name: `${n}` })).status],
    [
      'with keys',
      async (n) => (await create('task', { name: `${n}` }, { 'idempotency-key': `s${n}` })).status,
    ],
    [
      'of many records',
      async () => statusOf('mutation { createTasks(records: [{name: "x"}, {name: "y"}]) { count } }'),
    ],
    [
      'of transactions',
      async () => statusOf('mutation @transaction { createTask(data: {name: "x"}) { id } }'),
    ],
  ];

  it.each(slow)('%s, are made or refused, and let others read', async (_kind, write) => {
    const { writes, reads } = await crowd(write);
    expect(reads).toEqual(TEN_READS);
    expect(writes.filter((status) => status === 201).length).toBeGreaterThan(0);
    expect(writes.filter((status) => status === 503).length).toBeGreaterThan(0);
    expect(writes.filter((status) => status !== 201 && status !== 503)).toEqual([]);
  });

  it('say when to try again, and that it was the scripts that were busy', async () => {
    const answers = await Promise.all(Array.from({ length: 32 }, (_, n) => create('task', { name: `${n}` })));
    const refused = answers.filter(({ status }) => status === 503);
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(((await answer.json()) as Answered).detail).toMatch(/script/);
    }
  });
});

it('a trivial script serves eight at once without a refusal', async () => {
  await create('fee_head', { name: 'warm' });
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => create('fee_head', { name: `${n}` })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
});

it('other collections are written meanwhile', async () => {
  const crowded = crowd(async (n) => (await create('task', { name: `${n}` })).status);
  const others = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      create('holiday', { name: `${n}`, date: '2026-01-26' }, { 'idempotency-key': `h${n}` }),
    ),
  );
  expect(others.map(({ status }) => status)).toEqual(Array(6).fill(201));
  await crowded;
});

/** As REST would have answered. */
async function statusOf(query: string): Promise<number> {
  const { errors } = await send(gateway, { query, as: 'admin' });
  return errors.length === 0 ? 201 : Number(errors[0]?.extensions.status);
}
