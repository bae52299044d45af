/**
 * Whatever is asked, by whatever role, eight at once and half of them cut in the middle: the process goes on,
 * the next read is answered, and no connection, lock or timer is left behind. How long others wait meanwhile
 * is judged by the campaign of this name.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';
import { HARD_REQUESTS, type HardRequest, heldIn, prepare } from './hard-requests.js';

const gateway = useGateway({
  POOL_SIZE: '4',
  LOG_LEVEL: 'error',
  SCRIPT_CPU_TIME_MS: '300',
  SCRIPT_WARM_THREADS: '2',
});
const AT_ONCE = 8;
/** Of all pools together: one that is open for the next request has a timer that closes it later. */
const CONNECTIONS = 4 + 4 + 2 + 1;

let held: Awaited<ReturnType<typeof heldIn>>;
let timers: number;

const countTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

/** Until what it gives is no more than before, or it is sure to stay more. */
async function backTo(before: number, count: () => number | Promise<number>): Promise<number> {
  let now = await count();
  for (let look = 0; now > before && look < 200; look++) {
    await sleep(50);
    now = await count();
  }
  return now;
}

async function sendAtOnce(request: HardRequest): Promise<void> {
  const cutting: Promise<void>[] = [];
  const sent = Array.from({ length: AT_ONCE }, (_, n) => {
    const caller = new AbortController();
    if (n % 2 === 1) cutting.push(sleep(10 * n).then(() => caller.abort()));
    return request.send(gateway, { n, signal: caller.signal });
  });
  const results = await Promise.allSettled(sent);
  await Promise.all(cutting);
  // A fault of ours is a 500; 503 says what is full, and all else is an answer.
  const statuses = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(statuses).not.toContain(500);
}

beforeAll(async () => {
  await prepare(gateway, gateway.sql);
  for (const request of HARD_REQUESTS.slice(0, 2)) await sendAtOnce(request);
  await sleep(500);
  held = await heldIn(gateway.sql);
  timers = countTimers() + CONNECTIONS;
});

afterEach(() => {
  const faults = gateway.log.filter((line) => /requestFailed|backgroundFault|uncaught/.test(line));
  expect(faults.filter((line) => !line.includes('UNAVAILABLE'))).toEqual([]);
});

describe('eight at once of', () => {
  it.each(HARD_REQUESTS)('$name ($as)', async (request) => {
    await sendAtOnce(request);
    expect((await gateway.fetch('/o/recs/task/t1', { as: 'viewer' })).status).toBe(200);
    expect(await backTo(held.busy, async () => (await heldIn(gateway.sql)).busy)).toBeLessThanOrEqual(
      held.busy,
    );
    expect(await backTo(held.locks, async () => (await heldIn(gateway.sql)).locks)).toBeLessThanOrEqual(
      held.locks,
    );
    expect(await backTo(timers, countTimers)).toBeLessThanOrEqual(timers);
  });
});
