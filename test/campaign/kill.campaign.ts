import { afterAll, beforeAll, expect } from '@jest/globals';
import { campaign } from './campaign.js';
import { killInTheMiddle } from './kill-round.js';
import { KilledSchool } from './killed-school.js';

let school: KilledSchool;
beforeAll(async () => {
  school = await KilledSchool.open();
}, 120_000);
afterAll(async () => {
  await school.close();
}, 60_000);

campaign(
  'loses no acknowledged write to kill -9, and does none by half or twice',
  async ({ seed, random, count }) => {
    const victim = random.pick<'gateway' | 'database'>(['gateway', 'database']);
    const journal = await killInTheMiddle(school, { seed, victim, writers: 12, killAfterMs: [100, 3_000] });
    expect(await journal.findFaults()).toEqual([]);
    count(`kills of the ${victim}`);
    count('acknowledged writes', journal.count('acknowledged'));
    count('writes whose answer never came', journal.count('unknown'));
  },
);
