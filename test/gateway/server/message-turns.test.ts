import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { MessageTurns } from '../../../src/gateway/server/message-turns.js';
import { eventually } from '../../eventually.js';

/** Messages whose turns and handlers wait until the test lets them go on. */
function inbox({ most = 100, isRefused = false } = {}) {
  const seen: string[] = [];
  const handlers: (() => void)[] = [];
  const turns = new MessageTurns({
    most,
    enter: async () => {
      await turn();
      if (isRefused) throw new Error('refused');
      seen.push('turn');
      return { leave: () => seen.push('left') };
    },
    pause: () => seen.push('pause'),
    resume: () => seen.push('resume'),
    onOverflow: () => seen.push('overflow'),
    onFault: (error) => seen.push(String(error)),
  });
  const add = (name: string) =>
    turns.add(() => {
      seen.push(name);
      return new Promise<void>((resolve) => handlers.push(resolve));
    });
  const finish = async () => {
    await eventually(() => handlers.length > 0);
    handlers.shift()?.();
  };
  return { seen, add, finish };
}

describe('the messages of a WebSocket', () => {
  it('are handled one at a time, each in a turn, and the socket is not read meanwhile', async () => {
    const { seen, add, finish } = inbox();
    add('a');
    add('b');
    await finish();
    await finish();
    await eventually(() => seen.includes('resume'));
    expect(seen).toEqual(['pause', 'turn', 'a', 'left', 'turn', 'b', 'left', 'resume']);
  });

  it('are dropped where more of them came than may wait', async () => {
    const { seen, add, finish } = inbox({ most: 2 });
    for (const name of ['a', 'b', 'c', 'd']) add(name);
    await finish();
    await eventually(() => seen.includes('left'));
    expect(seen.filter((what) => what !== 'pause')).toEqual(['overflow', 'turn', 'a', 'left', 'resume']);
  });

  it('are dropped where one got no turn', async () => {
    const { seen, add } = inbox({ isRefused: true });
    add('a');
    add('b');
    await eventually(() => seen.includes('Error: refused'));
    expect(seen).toEqual(['pause', 'Error: refused']);
  });
});
