import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { BoundedWork } from '../../../../src/gateway/graphql/live/bounded-work.js';

function start(options: { readonly batchSize: number; readonly maxWaiting: number }) {
  const batches: (readonly number[])[] = [];
  const overflows: number[] = [];
  const work = new BoundedWork<number>({
    ...options,
    work: async (batch) => {
      batches.push(batch);
      await sleep(5);
    },
    onOverflow: () => overflows.push(batches.length),
  });
  return { work, batches, overflows };
}

it('does what is added together in batches, one after the other', async () => {
  const { work, batches } = start({ batchSize: 2, maxWaiting: 10 });
  for (const item of [1, 2, 3]) work.add(item);
  await sleep(30);
  work.add(4);
  await sleep(30);
  expect(batches).toEqual([[1, 2], [3], [4]]);
});

it('throws everything away that waits when it is too much, says so, and goes on', async () => {
  const { work, batches, overflows } = start({ batchSize: 1, maxWaiting: 2 });
  for (const item of [1, 2, 3]) work.add(item);
  await sleep(30);
  expect([batches, overflows]).toEqual([[], [0]]);
  work.add(4);
  await sleep(30);
  expect(batches).toEqual([[4]]);
});

it('does nothing of what was cleared', async () => {
  const { work, batches } = start({ batchSize: 1, maxWaiting: 9 });
  work.add(1);
  work.add(2);
  await sleep(1);
  work.clear();
  await sleep(30);
  expect(batches).toEqual([[1]]);
});
