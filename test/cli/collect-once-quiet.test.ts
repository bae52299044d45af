import { expect, it } from '@jest/globals';
import { collectOnceQuiet } from '../../src/cli/start-command.js';

it('garbage is collected when there is little to do, and not before', async () => {
  const garbage = new WeakRef(makeGarbage());
  const utilizations = [0.9, 0.02, 0.01, 0.01];
  await collectOnceQuiet({ lookEveryMs: 1, utilization: () => utilizations.shift() ?? 0 });
  expect(utilizations).toEqual([0.01]);
  expect(garbage.deref()).toBeUndefined();
});

it('garbage is collected of a process that does nothing', async () => {
  const garbage = new WeakRef(makeGarbage());
  await collectOnceQuiet({ lookEveryMs: 20 });
  expect(garbage.deref()).toBeUndefined();
});

function makeGarbage(): object {
  return { text: 'x'.repeat(1000) };
}
