import { describe, expect, it } from '@jest/globals';
import { ReadAhead } from '../../../../src/gateway/server/sending/read-ahead.js';

interface Watched {
  readonly heldBack: boolean[];
  ends: number;
}

function readAhead(source: AsyncIterable<string | Uint8Array>, maxBytes: number) {
  const watched: Watched = { heldBack: [], ends: 0 };
  const ahead = new ReadAhead(source, {
    maxBytes,
    onHeldBack: (isHeldBack) => watched.heldBack.push(isHeldBack),
    onSourceEnd: () => {
      watched.ends += 1;
    },
  });
  return { ahead, watched };
}

async function* letters(count: number, made: string[] = []): AsyncGenerator<string, void> {
  for (let index = 0; index < count; index++) {
    const letter = String.fromCharCode(97 + index);
    made.push(letter);
    yield letter;
  }
}

async function rest(ahead: ReadAhead): Promise<string> {
  let text = '';
  for (let chunk = await ahead.next(); chunk !== undefined; chunk = await ahead.next())
    text += Buffer.from(chunk);
  return text;
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('reading ahead', () => {
  it('ends its source though nobody takes what it gave', async () => {
    const { ahead, watched } = readAhead(letters(5), 100);
    await turns();
    expect(watched).toEqual({ heldBack: [], ends: 1 });
    expect(await rest(ahead)).toBe('abcde');
  });

  it('holds its source back while enough waits, and goes on when there is room', async () => {
    const made: string[] = [];
    const { ahead, watched } = readAhead(letters(6, made), 3);
    await turns();
    expect(made).toEqual(['a', 'b', 'c']);
    expect(watched).toEqual({ heldBack: [true], ends: 0 });
    await ahead.next();
    await turns();
    expect(made).toEqual(['a', 'b', 'c', 'd']);
    expect(await rest(ahead)).toBe('bcdef');
    expect(watched.ends).toBe(1);
    expect(watched.heldBack.at(-1)).toBe(false);
  });

  it('gives what came before a failure, then the failure', async () => {
    async function* failing() {
      yield 'a';
      throw new Error('cut');
    }
    const { ahead, watched } = readAhead(failing(), 10);
    await turns();
    expect(String(await ahead.next())).toBe('a');
    await expect(ahead.next()).rejects.toThrow('cut');
    expect(watched.ends).toBe(1);
  });

  it('leaves its source when it is closed', async () => {
    let isLeft = false;
    async function* endless() {
      try {
        for (;;) yield 'a';
      } finally {
        isLeft = true;
      }
    }
    const { ahead, watched } = readAhead(endless(), 3);
    await ahead.close();
    expect([isLeft, watched.ends]).toEqual([true, 1]);
  });
});
