/** Hostile names and values through every door, with PostgreSQL's log watched. */
import { beforeAll, expect } from '@jest/globals';
import { useGateway } from '../contract/gateway.js';
import { ATTEMPTS, HOSTILE_TEXTS, prepareForAttempts } from '../hostile-attempts.js';
import { type StatementErrors, watchStatementErrors } from '../statement-errors.js';
import { campaign } from './campaign.js';

const gateway = useGateway({ FEDERATION: 'true' });
const ATTEMPTS_A_ROUND = 200;
let errors: StatementErrors | undefined;

beforeAll(async () => {
  await prepareForAttempts(gateway);
  const url = String(gateway.sql.options.connectionString);
  errors = await watchStatementErrors(url);
});

campaign(
  'answers every hostile name and value itself, and lets none fail in PostgreSQL',
  async ({ random, count }) => {
    for (let attempt = 0; attempt < ATTEMPTS_A_ROUND; attempt += 1) {
      const { door, send } = random.pick(
        ATTEMPTS as [(typeof ATTEMPTS)[number], ...(typeof ATTEMPTS)[number][]],
      );
      const parts = Array.from({ length: random.integer(1, 3) }, () => random.pick([...HOSTILE_TEXTS]));
      const text = parts.join(random.isChance(0.5) ? '' : 'a');
      const status = await send(gateway, text);
      if (status >= 500)
        throw new Error(`${door} answered ${status} to ${JSON.stringify(text.slice(0, 200))}`);
      const failed = (await errors?.list()) ?? [];
      if (failed.length > 0)
        throw new Error(`${door} with ${JSON.stringify(text.slice(0, 200))}: ${failed.join('; ')}`);
      count('attempts');
      count(`answered ${Math.floor(status / 100)}xx`);
    }
    expect(await errors?.list()).toEqual([]);
  },
);
