/** Bursts of writes of one user that ask a script: an ordinary one passes, and what does not is told why. */
import { beforeAll, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { ask } from './graphql.js';

const gateway = useGateway({ SCRIPT_BEFORE_TIMEOUT_MS: '12000' });

const SAVE = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { name } }';

async function save(collection: string, code: string): Promise<void> {
  const before = [{ collection, operations: ['CREATE'] }];
  await ask(gateway, SAVE, { variables: { script: { name: `ask-${collection}`, code, before } } });
}

interface Answer {
  readonly status: number;
  readonly detail: string;
}

/** So many new records at once, by one user. */
async function createAtOnce(collection: string, count: number): Promise<readonly Answer[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const response = await gateway.fetch(`/o/${collection}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: `${n}` }),
        as: 'admin',
      });
      const { detail } = (await response.json()) as { readonly detail?: string };
      return { status: response.status, detail: detail ?? '' };
    }),
  );
}

const countOf = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

beforeAll(async () => {
  await save('task', 'export default ({ record }) => ({ ...record, name: record.name + "!" });');
  await save('fee_head', 'export default () => { for (;;); }');
});

it('the marks of two classes at once are made one after the other', async () => {
  expect(countOf(await createAtOnce('task', 80), 201)).toBe(80);
});

it('more than may wait are refused at once, and the others are made', async () => {
  const answers = await createAtOnce('task', 300);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(countOf(answers, 201)).toBeGreaterThanOrEqual(100);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, detail } of refused) {
    expect(status).toBe(503);
    expect(detail).toMatch(/too many of your writes are waiting for their "before" scripts, 100 of them/);
  }
});
