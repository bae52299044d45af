import { describe, expect, it } from '@jest/globals';
import { Arrival } from '../../src/server/arrival.js';

describe('the signal of a request', () => {
  it('may be listened to by as many statements as a document has fields', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new Arrival('id', '127.0.0.1', {});
    for (let index = 0; index < 40; index++) signal.addEventListener('abort', () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });
});
