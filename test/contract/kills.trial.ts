/**
 * The first rounds of the campaign of kills: enough to see that a kill costs nothing, too few to meet what is
 * rare.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { killInTheMiddle } from '../campaign/kill-round.js';
import { KilledSchool } from '../campaign/killed-school.js';
import type { WriteJournal } from '../campaign/write-journal.js';

let school: KilledSchool;
beforeAll(async () => {
  school = await KilledSchool.open();
});
afterAll(async () => {
  await school.close();
});

async function kill(victim: 'gateway' | 'database', seed: number): Promise<WriteJournal> {
  return await killInTheMiddle(school, { seed, victim, writers: 8, killAfterMs: [800, 800] });
}

describe('a kill -9 while writes of every kind are under way', () => {
  it('of the gateway loses nothing that was acknowledged, and leaves nothing half done', async () => {
    const journal = await kill('gateway', 11);
    expect(journal.count('acknowledged')).toBeGreaterThan(0);
    expect(await journal.findFaults()).toEqual([]);
  });

  it('of the database neither; and the journal would miss what is gone, or is there by half', async () => {
    const journal = await kill('database', 12);
    expect(journal.count('acknowledged')).toBeGreaterThan(0);
    expect(await journal.findFaults()).toEqual([]);
    await school.sql.query('delete from audit_entries');
    expect(await journal.findFaults()).toContainEqual(
      expect.stringMatching(/acknowledged: \d+ of \d+ pieces/),
    );
  });
});
