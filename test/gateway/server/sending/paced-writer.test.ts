import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { PacedWriter, ReaderTooSlow } from '../../../../src/gateway/server/sending/paced-writer.js';

/** Takes a chunk for as long as it is told to. */
function reader(takingMs: number): Writable {
  return new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => void setTimeout(done, takingMs),
  });
}

const CHUNK = Buffer.alloc(1000);

async function writeAll(
  response: Writable,
  pace: { streamStallMs: number; streamMinBytesPerSecond: number },
) {
  const writer = new PacedWriter(response, pace);
  for (let index = 0; index < 10; index++) await writer.write(CHUNK);
}

describe('writing at a pace', () => {
  it('waits for a reader that takes enough', async () => {
    const response = reader(20);
    await writeAll(response, { streamStallMs: 60, streamMinBytesPerSecond: 1 });
    expect(response.destroyed).toBe(false);
  });

  it('leaves a reader that takes nothing, whatever the rate', async () => {
    const writing = writeAll(reader(400), { streamStallMs: 30, streamMinBytesPerSecond: 0 });
    await expect(writing).rejects.toThrow('took 0 bytes in 30 ms');
  });

  it('leaves a reader that takes a little now and then', async () => {
    const writing = writeAll(reader(20), { streamStallMs: 60, streamMinBytesPerSecond: 1_000_000 });
    await expect(writing).rejects.toThrow(ReaderTooSlow);
    await expect(writing).rejects.toThrow(/bytes in 60 ms \(STREAM_STALL_MS\), less than 1000000 a second/);
  });

  it('leaves a reader that has gone', async () => {
    const response = reader(20);
    setTimeout(() => response.destroy(), 10);
    await expect(writeAll(response, { streamStallMs: 1000, streamMinBytesPerSecond: 1 })).rejects.toThrow(
      'has gone',
    );
  });
});
