import { describe, expect, it } from '@jest/globals';
import { EventQueue } from '../../../../src/gateway/graphql/live/event-queue.js';

/** A queue, the bytes that wait in it, and how many events were sent. */
function open() {
  const budget = { bytes: 0, sent: 0 };
  const queue = new EventQueue(
    {
      waits: (bytes) => {
        budget.bytes += bytes;
      },
      sent: (bytes) => {
        budget.bytes -= bytes;
        budget.sent += 1;
      },
      dropped: (bytes) => {
        budget.bytes -= bytes;
      },
    },
    'a "key"',
  );
  return { queue, budget };
}

const textOf = async (queue: EventQueue) => (await queue.next()).value?.text;

describe('the queue of a subscription', () => {
  it('gives events in order, each as the text of a whole result', async () => {
    const { queue } = open();
    queue.push('{"n":1}');
    queue.push('{"n":2}');
    expect(await textOf(queue)).toBe('{"data":{"a \\"key\\"":{"n":1}}}');
    expect(await textOf(queue)).toBe('{"data":{"a \\"key\\"":{"n":2}}}');
  });

  it('waits for an event that is to come', async () => {
    const { queue } = open();
    const event = textOf(queue);
    queue.push('1');
    expect(await event).toContain(':1}');
  });

  it(
    'counts what waits in bytes, text of several bytes a character included, and nothing of what was ' +
      'sent',
    async () => {
      const { queue, budget } = open();
      queue.push('"अ"');
      expect(budget.bytes).toBe(205);
      await queue.next();
      expect(budget.bytes).toBe(0);
    },
  );

  it('gives what waits before it ends, and is stopped once', async () => {
    const { queue } = open();
    const stops: string[] = [];
    queue.onEnd(() => stops.push('stopped'));
    queue.push('1');
    queue.end();
    queue.end();
    queue.push('2');
    expect(await textOf(queue)).toContain(':1}');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
    expect(stops).toEqual(['stopped']);
  });

  it('gives what waits before it fails, and fails once', async () => {
    const { queue } = open();
    queue.push('1');
    queue.fail(new Error('no longer'));
    queue.push('2');
    expect(await textOf(queue)).toContain(':1}');
    await expect(queue.next()).rejects.toThrow('no longer');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it('forgets what waits when the client ends it, and says so once', async () => {
    const { queue, budget } = open();
    let ends = 0;
    queue.onEnd(() => {
      ends += 1;
    });
    queue.push('1');
    const waiting = open();
    const next = waiting.queue.next();
    await waiting.queue.return();
    expect(await next).toEqual({ done: true, value: undefined });
    await queue.return();
    await queue.return();
    queue.push('2');
    expect([ends, budget]).toEqual([1, { bytes: 0, sent: 0 }]);
    queue.onEnd(() => {
      ends += 1;
    });
    expect(ends).toBe(2);
  });
});
