import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/school/demo/random.js';
import type { KilledSchool } from './killed-school.js';

export interface KillsOfWork {
  readonly random: Random;
  /** How often at most. */
  readonly kills: number;
  /** How long it works before each, at least and at most. */
  readonly killAfterMs: readonly [number, number];
  readonly isOver: () => Promise<boolean>;
  /** What is wrong with what is there, over or not. */
  readonly findFaults: () => Promise<readonly string[]>;
}

export interface KilledWork {
  readonly kills: Readonly<Record<'gateway' | 'database', number>>;
  readonly faults: readonly string[];
}

const END_WITHIN_MS = 120_000;

/**
 * Kills the gateway that is at work on something, or the database, as often as it takes, looks at what is
 * there each time, and waits for its end.
 */
export async function killAgain(school: KilledSchool, work: KillsOfWork): Promise<KilledWork> {
  const { random, isOver, findFaults } = work;
  const kills = { gateway: 0, database: 0 };
  const faults: string[] = [];
  for (let kill = 0; kill < work.kills; kill += 1) {
    await sleep(random.integer(...work.killAfterMs));
    const victim = random.pick<keyof typeof kills>(['gateway', 'database']);
    if (victim === 'gateway') await school.killGateway();
    else await school.killDatabase();
    kills[victim] += 1;
    await school.untilDatabaseAnswers();
    faults.push(...(await findFaults()));
    if (victim === 'gateway') await school.startGateway();
    await school.untilReady();
    if (await isOver()) break;
  }
  for (const end = Date.now() + END_WITHIN_MS; !(await isOver()); await sleep(50)) {
    if (Date.now() > end) return { kills, faults: [...faults, ...(await findFaults()), 'it does not end'] };
  }
  return { kills, faults: [...faults, ...(await findFaults())] };
}
