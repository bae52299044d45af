import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../src/school/demo/random.js';
import type { KilledSchool } from './killed-school.js';
import { WriteJournal } from './write-journal.js';

export interface KillRound {
  /** Decides what is written, and when it is killed. */
  readonly seed: number;
  readonly victim: 'gateway' | 'database';
  readonly writers: number;
  /** How long they write before the kill, at least and at most. */
  readonly killAfterMs: readonly [number, number];
}

/**
 * Has many write to a school, kills the gateway or the database in the middle, brings it back, and looks at
 * what is there.
 */
export async function killInTheMiddle(school: KilledSchool, round: KillRound): Promise<WriteJournal> {
  const { seed, victim, writers, killAfterMs } = round;
  const journal = new WriteJournal(school);
  await journal.prepare();
  const stopping = new AbortController();
  const writing = Array.from({ length: writers }, (_, index) =>
    journal.write(`${seed}-${index}`, new Random(seed, index), stopping.signal),
  );
  await sleep(new Random(seed).integer(...killAfterMs));
  if (victim === 'gateway') await school.killGateway();
  else await school.killDatabase();
  stopping.abort();
  await Promise.all(writing);
  if (victim === 'gateway') await school.startGateway();
  await school.untilReady();
  await journal.sendAgain();
  return journal;
}
