import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ByteSource } from '../../../src/services/backup/open-archive.js';
import { type BackupSecret, isSealed, seal, unseal } from '../../../src/services/backup/seal.js';

const KEY: BackupSecret = { kind: 'key', bytes: Buffer.alloc(32, 7) };
const PASSPHRASE: BackupSecret = { kind: 'passphrase', text: 'correct horse battery' };
const CHUNK_BYTES = 64 * 1024;

function sourceOf(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: async (start, end) => Buffer.from(bytes.subarray(start, end)),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function sealed(plain: Buffer, secret: BackupSecret, cut = plain.length || 1): Promise<Buffer> {
  async function* pieces() {
    for (let at = 0; at < plain.length; at += cut) yield plain.subarray(at, at + cut);
  }
  const parts: Buffer[] = [];
  for await (const part of seal(pieces(), secret)) parts.push(part);
  return Buffer.concat(parts);
}

async function opened(bytes: Buffer, secret: BackupSecret): Promise<Buffer> {
  const source = await unseal(sourceOf(bytes), secret);
  return await source.read(0, source.size);
}

/** Bytes that differ from place to place. */
function patterned(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => (at * 31 + (at >> 8)) & 255));
}

const NOT_OPENED = { code: 'INVALID_VALUE' };

describe('a sealed backup', () => {
  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])(
    'gives %i bytes back, however they came',
    async (length) => {
      const plain = patterned(length);
      for (const cut of [1 + (length >> 2), CHUNK_BYTES, length || 1]) {
        const bytes = await sealed(plain, KEY, cut);
        expect(await isSealed(sourceOf(bytes))).toBe(true);
        expect((await opened(bytes, KEY)).equals(plain)).toBe(true);
      }
    },
  );

  it('may be read at any place', async () => {
    const plain = patterned(2.5 * CHUNK_BYTES);
    const source = await unseal(sourceOf(await sealed(plain, KEY)), KEY);
    const place = fc.nat({ max: plain.length });
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        expect((await source.read(start, end)).equals(plain.subarray(start, end))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('opens with its passphrase, however its letters are composed', async () => {
    const bytes = await sealed(Buffer.from('text'), { kind: 'passphrase', text: 'caf\u00e9 au lait, deux' });
    const plain = await opened(bytes, { kind: 'passphrase', text: 'cafe\u0301 au lait, deux' });
    expect(plain.toString()).toBe('text');
  });

  it('does not show what is in it', async () => {
    const bytes = await sealed(Buffer.from('a name that stands in it'), PASSPHRASE);
    expect(bytes.toString('latin1')).not.toContain('name');
  });

  it('does not open with another passphrase, another key, or one in place of the other', async () => {
    const byPassphrase = await sealed(patterned(10), PASSPHRASE);
    const byKey = await sealed(patterned(10), KEY);
    const wrong: BackupSecret = { kind: 'passphrase', text: 'correct horse batterY' };
    await expect(opened(byPassphrase, wrong)).rejects.toMatchObject(NOT_OPENED);
    await expect(opened(byPassphrase, KEY)).rejects.toMatchObject(NOT_OPENED);
    await expect(opened(byKey, PASSPHRASE)).rejects.toMatchObject(NOT_OPENED);
    await expect(opened(byKey, { kind: 'key', bytes: Buffer.alloc(32, 8) })).rejects.toMatchObject(
      NOT_OPENED,
    );
  });

  it('does not open with any byte changed', async () => {
    const bytes = await sealed(patterned(CHUNK_BYTES + 100), KEY);
    // Its first bytes say that it is sealed at all: without them, it is no backup.
    const place = fc.integer({ min: 15, max: bytes.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, bits) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ bits;
        await expect(opened(changed, KEY)).rejects.toMatchObject(NOT_OPENED);
      }),
      { numRuns: 200 },
    );
  });

  it('does not open cut off, at the end of a chunk either, nor with chunks in another order', async () => {
    const bytes = await sealed(patterned(3 * CHUNK_BYTES), KEY);
    const chunk = CHUNK_BYTES + 16;
    const header = bytes.subarray(0, 64);
    const [first, second, third] = [0, 1, 2].map((at) =>
      bytes.subarray(64 + at * chunk, 64 + (at + 1) * chunk),
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error('three chunks');
    for (const parts of [
      [first, second],
      [second, first, third],
      [first, third],
      [first, second, third, third],
      [first, second, third.subarray(0, -1)],
      [],
    ]) {
      await expect(opened(Buffer.concat([header, ...parts]), KEY)).rejects.toMatchObject(NOT_OPENED);
    }
  });

  it('does not cost whoever opens it more than it may', async () => {
    const bytes = await sealed(Buffer.from('text'), PASSPHRASE);
    bytes[16] = 40;
    await expect(opened(bytes, PASSPHRASE)).rejects.toMatchObject(NOT_OPENED);
  });
});
