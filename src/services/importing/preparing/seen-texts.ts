/**
 * Remembers which texts of each rule were seen in a file, and in which row, in at most 12 MiB: the latest in
 * a table, earlier ones in files, and a filter that recognizes nearly all texts that are in none of the
 * files. A text is represented by 64 bits of its hash.
 */
import { randomInt } from 'node:crypto';
import { closeSync, readSync, writeSync } from 'node:fs';
import { openNamelessFile, toDiskFault } from '../reading/nameless-file.js';

const FIRST_SLOTS = 1 << 10;
const MOST_SLOTS = 1 << 17;
/** In a fuller table, look-ups take long. */
const MOST_FULL = 0.7;
/** 8 MiB: after ten million texts, one new text in twenty is looked up in the files. */
const FILTER_BITS = 1 << 26;
const FILTER_PROBES = 4;

export class SeenTexts {
  /** Low and high half of the hash, and the row: three places a slot; row 0 is an empty slot. */
  #slots = new Uint32Array(ENTRY_WORDS * FIRST_SLOTS);
  #count = 0;
  /** From the largest to the smallest. */
  #runs: HashRun[] = [];
  /** The filter of the texts in the runs. */
  #filter: Uint8Array | undefined;
  readonly #seed = randomInt(0xffff_ffff);
  readonly #seedOf = new Map<string, number>();
  /** The last hashed text and its hash, because `add` follows `find` with the same text. */
  #hashedRule = '';
  #hashedText = '';
  readonly #hash = new Uint32Array(2);

  /** The first row with this text of the rule; `undefined` if there was none. */
  find(rule: string, text: string): number | undefined {
    const hash = this.#hashOf(rule, text);
    const low = hash[0] ?? 0;
    const high = hash[1] ?? 0;
    const row = this.#slots[this.#placeOf(low, high) + 2];
    if (row !== 0) return row;
    if (this.#filter === undefined || !passes(this.#filter, low, high)) return undefined;
    for (const run of this.#runs) {
      const found = run.find(low, high);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Remembers a text that was not seen before; rows count from 1. */
  add(rule: string, text: string, row: number): void {
    if (this.#count + 1 > MOST_FULL * (this.#slots.length / ENTRY_WORDS)) this.#makeRoom();
    const hash = this.#hashOf(rule, text);
    const low = hash[0] ?? 0;
    const high = hash[1] ?? 0;
    const place = this.#placeOf(low, high);
    if (this.#slots[place + 2] !== 0) return;
    this.#put(place, low, high, row);
    this.#count += 1;
  }

  #hashOf(rule: string, text: string): Uint32Array {
    if (text === this.#hashedText && rule === this.#hashedRule) return this.#hash;
    let seed = this.#seedOf.get(rule);
    if (seed === undefined) {
      setHash(this.#hash, rule, this.#seed);
      seed = this.#hash[0] ?? 0;
      this.#seedOf.set(rule, seed);
    }
    setHash(this.#hash, text, seed);
    this.#hashedRule = rule;
    this.#hashedText = text;
    return this.#hash;
  }

  #put(place: number, low: number, high: number, row: number): void {
    this.#slots[place] = low;
    this.#slots[place + 1] = high;
    this.#slots[place + 2] = row;
  }

  /** The slot of the hash, or the free one for it. */
  #placeOf(low: number, high: number): number {
    const slots = this.#slots.length / ENTRY_WORDS;
    let slot = low & (slots - 1);
    for (;;) {
      const place = ENTRY_WORDS * slot;
      if (this.#slots[place + 2] === 0) return place;
      if (this.#slots[place] === low && this.#slots[place + 1] === high) return place;
      slot = (slot + 1) & (slots - 1);
    }
  }

  #makeRoom(): void {
    if (this.#slots.length < ENTRY_WORDS * MOST_SLOTS) this.#grow();
    else this.#spill();
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let place = 0; place < old.length; place += ENTRY_WORDS) {
      const row = old[place + 2] ?? 0;
      if (row === 0) continue;
      const low = old[place] ?? 0;
      const high = old[place + 1] ?? 0;
      this.#put(this.#placeOf(low, high), low, high, row);
    }
  }

  /** Moves the table to a file. Files of similar size are merged, so that there are few. */
  #spill(): void {
    let run = new HashRun([this.#sorted()]);
    for (
      let last = this.#runs.at(-1);
      last !== undefined && last.count <= run.count;
      last = this.#runs.at(-1)
    ) {
      this.#runs.pop();
      run = last.mergeWith(run);
    }
    this.#runs.push(run);
    this.#slots.fill(0);
    this.#count = 0;
  }

  /** The entries of the table, sorted by hash; adds them to the filter. */
  #sorted(): Uint32Array {
    this.#filter ??= new Uint8Array(FILTER_BITS / 8);
    const hashes = new BigUint64Array(this.#count);
    const words = new Uint32Array(hashes.buffer);
    let next = 0;
    for (let place = 0; place < this.#slots.length; place += ENTRY_WORDS) {
      if (this.#slots[place + 2] === 0) continue;
      words[next] = this.#slots[place] ?? 0;
      words[next + 1] = this.#slots[place + 1] ?? 0;
      next += 2;
    }
    hashes.sort();
    const sorted = new Uint32Array(ENTRY_WORDS * this.#count);
    for (let at = 0; at < this.#count; at += 1) {
      const low = words[2 * at] ?? 0;
      const high = words[2 * at + 1] ?? 0;
      pass(this.#filter, low, high);
      sorted[ENTRY_WORDS * at] = low;
      sorted[ENTRY_WORDS * at + 1] = high;
      sorted[ENTRY_WORDS * at + 2] = this.#slots[this.#placeOf(low, high) + 2] ?? 0;
    }
    return sorted;
  }
}

/** Adds a hash to the filter. */
function pass(filter: Uint8Array, low: number, high: number): void {
  for (let probe = 0; probe < FILTER_PROBES; probe += 1) {
    const bit = bitOf(low, high, probe);
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
}

function passes(filter: Uint8Array, low: number, high: number): boolean {
  for (let probe = 0; probe < FILTER_PROBES; probe += 1) {
    const bit = bitOf(low, high, probe);
    if (((filter[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

function bitOf(low: number, high: number, probe: number): number {
  return (high + Math.imul(probe, low | 1)) & (FILTER_BITS - 1);
}

/**
 * 64 bits in two halves (MurmurHash's mixing); with a seed of its own, nobody can prepare texts that collide.
 */
function setHash(hash: Uint32Array, text: string, seed: number): void {
  let one = seed ^ 0xdeadbeef;
  let other = seed ^ 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  other = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  hash[0] = one;
  hash[1] = other;
}

/** The low half of the hash, its high half, and the row. In bytes, a hash is thus a 64-bit number. */
const ENTRY_WORDS = 3;
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
