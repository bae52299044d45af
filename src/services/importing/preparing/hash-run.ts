/** A file with sorted hashes of texts and their rows, for which SeenTexts has no room in memory. */
import { closeSync, readSync, writeSync } from 'node:fs';
import { openNamelessFile } from '../reading/nameless-file.js';
import { toDiskFault } from '../reading/to-disk-fault.js';

/** The low half of the hash, its high half, and the row. In bytes, a hash is thus a 64-bit number. */
export const ENTRY_WORDS = 3;
const ENTRY_BYTES = 4 * ENTRY_WORDS;
/** A block of 3 KiB is read to find one entry. The first hash of each block is in memory. */
const BLOCK_ENTRIES = 256;
const CHUNK_ENTRIES = 16 * BLOCK_ENTRIES;

export class HashRun {
  readonly count: number;
  readonly #handle: number;
  /** Low and high half of the first hash of each block. */
  readonly #firsts: Uint32Array;
  readonly #block = new Uint32Array(ENTRY_WORDS * BLOCK_ENTRIES);

  /**
   * `parts` are entries in ascending order of their hashes. A thread that ends closes the file.
   *
   * @throws UNAVAILABLE if the disk is full
   */
  constructor(parts: Iterable<Uint32Array>) {
    this.#handle = openNamelessFile();
    const firsts: number[] = [];
    let count = 0;
    for (const part of parts) {
      const entries = part.length / ENTRY_WORDS;
      for (
        let at = (BLOCK_ENTRIES - (count % BLOCK_ENTRIES)) % BLOCK_ENTRIES;
        at < entries;
        at += BLOCK_ENTRIES
      )
        firsts.push(wordAt(part, ENTRY_WORDS * at), wordAt(part, ENTRY_WORDS * at + 1));
      writeAll(this.#handle, part, count * ENTRY_BYTES);
      count += entries;
    }
    this.count = count;
    this.#firsts = Uint32Array.from(firsts);
  }

  /** The row of a hash; `undefined` if the file does not contain it. */
  find(low: number, high: number): number | undefined {
    const block = placeOf(this.#firsts, this.#firsts.length / 2, 2, low, high);
    if (block < 0) return undefined;
    const entries = this.#read(this.#block, block * BLOCK_ENTRIES);
    const found = placeOf(this.#block, entries, ENTRY_WORDS, low, high);
    if (found < 0) return undefined;
    const place = found * ENTRY_WORDS;
    const isFound = this.#block[place] === low && this.#block[place + 1] === high;
    return isFound ? this.#block[place + 2] : undefined;
  }

  /** Merges two runs into one, and closes both. */
  mergeWith(other: HashRun): HashRun {
    const merged = new HashRun(mergeSorted(this.#entries(), other.#entries()));
    this.close();
    other.close();
    return merged;
  }

  close(): void {
    closeSync(this.#handle);
  }

  *#entries(): Generator<Uint32Array, undefined> {
    const chunk = new Uint32Array(ENTRY_WORDS * CHUNK_ENTRIES);
    for (let start = 0; start < this.count; start += CHUNK_ENTRIES)
      yield chunk.subarray(0, ENTRY_WORDS * this.#read(chunk, start));
    return undefined;
  }

  /** Fills the words with the entries from `start` on, and returns their number. */
  #read(words: Uint32Array, start: number): number {
    const wanted = Math.min(words.length / ENTRY_WORDS, this.count - start) * ENTRY_BYTES;
    const bytes = new Uint8Array(words.buffer, 0, wanted);
    for (let done = 0; done < wanted; ) {
      const read = readSync(this.#handle, bytes, done, wanted - done, start * ENTRY_BYTES + done);
      if (read === 0) throw new Error('the hashes of a file are shorter than they were written');
      done += read;
    }
    return wanted / ENTRY_BYTES;
  }
}

/** Merges two sorted runs, in parts; requesting the next part overwrites the last one. */
function* mergeSorted(
  one: Iterator<Uint32Array, undefined>,
  other: Iterator<Uint32Array, undefined>,
): Generator<Uint32Array> {
  const merged = new Uint32Array(ENTRY_WORDS * CHUNK_ENTRIES);
  let left = one.next().value;
  let right = other.next().value;
  let leftAt = 0;
  let rightAt = 0;
  let at = 0;
  while (left !== undefined || right !== undefined) {
    const isLeft = right === undefined || (left !== undefined && isBelow(left, leftAt, right, rightAt));
    const source = (isLeft ? left : right) as Uint32Array;
    const from = isLeft ? leftAt : rightAt;
    merged[at] = wordAt(source, from);
    merged[at + 1] = wordAt(source, from + 1);
    merged[at + 2] = wordAt(source, from + 2);
    at += ENTRY_WORDS;
    if (at === merged.length) {
      yield merged;
      at = 0;
    }
    const isOver = from + ENTRY_WORDS === source.length;
    if (isLeft) {
      leftAt = isOver ? 0 : from + ENTRY_WORDS;
      if (isOver) left = one.next().value;
    } else {
      rightAt = isOver ? 0 : from + ENTRY_WORDS;
      if (isOver) right = other.next().value;
    }
  }
  if (at > 0) yield merged.subarray(0, at);
}

function isBelow(one: Uint32Array, at: number, other: Uint32Array, otherAt: number): boolean {
  const high = wordAt(one, at + 1);
  const otherHigh = wordAt(other, otherAt + 1);
  return high < otherHigh || (high === otherHigh && wordAt(one, at) < wordAt(other, otherAt));
}

/** The last of the first `count` entries whose hash is not greater than this one. -1 if there is none. */
function placeOf(words: Uint32Array, count: number, entryWords: number, low: number, high: number): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const middleHigh = wordAt(words, middle * entryWords + 1);
    const isAbove = middleHigh > high || (middleHigh === high && wordAt(words, middle * entryWords) > low);
    if (isAbove) to = middle;
    else from = middle + 1;
  }
  return from - 1;
}

/** All callers stay within the array. */
function wordAt(words: Uint32Array, at: number): number {
  return words[at] as number;
}

function writeAll(handle: number, words: Uint32Array, position: number): void {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  try {
    for (let done = 0; done < bytes.length; )
      done += writeSync(handle, bytes, done, bytes.length - done, position + done);
  } catch (fault) {
    throw toDiskFault(fault);
  }
}
