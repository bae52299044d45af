/** Writes whose script takes longer than it may: whether it is the script, or the others that were before. */
import { beforeAll, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

// One place: the second write waits for the first, and has what is left of its time.
const gateway = useGateway({ POOL_SIZE: '4', SCRIPT_BEFORE_TIMEOUT_MS: '2500' });

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';

async function create(name: string): Promise<{ readonly status: number; readonly detail: string }> {
  const response = await gateway.fetch('/o/task', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
    as: 'admin',
  });
  const { detail } = (await response.json()) as { readonly detail?: string };
  return { status: response.status, detail: detail ?? '' };
}

beforeAll(async () => {
  const script = {
    name: 'ask',
    code: `export default ({ record }) => {
      const end = Date.now() + Number(record.name);
      while (Date.now() < end);
    }`,
    before: [{ collection: 'task', operations: ['CREATE'] }],
  };
  await ask(gateway, SAVE, { variables: { script } });
});

it('a script that had all of its time is to blame, by the name of the setting', async () => {
  const { status, detail } = await create('60000');
  expect(status).toBe(422);
  expect(detail).toMatch(
    /^the script "ask" refused the write: it took longer than 2,500 ms \(SCRIPT_BEFORE_TIMEOUT_MS\) \(ask:3:\d+\)$/,
  );
});

it('a script that had what waiting left is not: the write may be tried again', async () => {
  const first = create('1200');
  const second = await create('2000');
  await first;
  expect(second.status).toBe(503);
  expect(second.detail).toMatch(/waited [\d,]+ ms behind other writes; nothing was written, try again/);
});
