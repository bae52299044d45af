import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { KeptPresence, Presence } from '../../../../src/store/database/embedded/kept-presence.js';
import { expectEventually } from '../../../expect-eventually.js';

/** All that is asked of a connection is when it ends. */
function connection(): pg.Client {
  return new EventEmitter() as pg.Client;
}

describe('the presence at the embedded server', () => {
  it('is made anew when it is lost, also when that happened before it was handed over', async () => {
    const first = connection();
    const lines: string[] = [];
    let revived = 0;
    const kept = new KeptPresence({
      presence: new Presence(first),
      log: (line) => lines.push(line),
      async revive() {
        revived++;
        const client = connection();
        const presence = new Presence(client);
        if (revived === 1) client.emit('end');
        return presence;
      },
    });
    first.emit('end');
    await expectEventually(() => revived, 2);
    await kept.end();
    expect(lines).toEqual(Array(2).fill('The embedded PostgreSQL was lost, and runs again'));
  });
});
