/**
 * Remembers which texts of each rule were seen in a file, and in which row, in at most 12 MiB: the latest in
 * a table, earlier ones as the full tables before it in a file, and a filter that recognizes nearly all texts
 * that are not in the file. A text is represented by 64 bits of its hash.
 */

import { randomInt } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { openNamelessFile, toDiskFault } from '../reading/nameless-file.js';

/** Low and high half of the hash, and the row; row 0 is an empty slot. */
const SLOT_WORDS = 3;
const FIRST_SLOTS = 1 << 10;
const MOST_SLOTS = 1 << 18;
const TABLE_BYTES = 4 * SLOT_WORDS * MOST_SLOTS;
/** In a fuller table, look-ups take long. */
const MOST_FULL = 0.7;
/** So many slots are read at once; nearly every look-up in a file ends within them. */
const PAGE_SLOTS = 64;
/** 8 MiB: after ten million texts, one new text in twenty is looked up in the file. */
const FILTER_BITS = 1 << 26;
const FILTER_PROBES = 4;

export class SeenTexts {
  #slots = new Uint32Array(SLOT_WORDS * FIRST_SLOTS);
  #count = 0;
  /** The file of full tables; a thread that ends closes it. */
  #file: number | undefined;
  #tables = 0;
  readonly #page = new Uint32Array(SLOT_WORDS * PAGE_SLOTS);
  /** The filter of the texts in the file. */
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
    if (this.#filter === undefined || !isSet(this.#filter, low, high)) return undefined;
    for (let table = 0; table < this.#tables; table += 1) {
      const found = this.#findInFile(table, low, high);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Remembers a text that was not seen before; rows count from 1.
   *
   * @throws UNAVAILABLE if the disk is full
   */
  add(rule: string, text: string, row: number): void {
    if (this.#count + 1 > MOST_FULL * (this.#slots.length / SLOT_WORDS)) this.#makeRoom();
    const hash = this.#hashOf(rule, text);
    const low = hash[0] ?? 0;
    const high = hash[1] ?? 0;
    const place = this.#placeOf(low, high);
    if (this.#slots[place + 2] !== 0) return;
    this.#slots.set([low, high, row], place);
    this.#count += 1;
  }

  #hashOf(rule: string, text: string): Uint32Array {
    if (text === this.#hashedText && rule === this.#hashedRule) return this.#hash;
    const seed = getOrMake(this.#seedOf, rule, () => {
      setHash(this.#hash, rule, this.#seed);
      return this.#hash[0] ?? 0;
    });
    setHash(this.#hash, text, seed);
    this.#hashedRule = rule;
    this.#hashedText = text;
    return this.#hash;
  }

  /** The slot of the hash, or the free one for it. */
  #placeOf(low: number, high: number): number {
    const slots = this.#slots.length / SLOT_WORDS;
    let slot = low & (slots - 1);
    for (;;) {
      const place = SLOT_WORDS * slot;
      if (this.#slots[place + 2] === 0) return place;
      if (this.#slots[place] === low && this.#slots[place + 1] === high) return place;
      slot = (slot + 1) & (slots - 1);
    }
  }

  /** Doubles the table, or moves it to the file. */
  #makeRoom(): void {
    const full = this.#slots;
    const isLargest = full.length === SLOT_WORDS * MOST_SLOTS;
    if (isLargest) this.#append(full);
    else this.#slots = new Uint32Array(2 * full.length);
    for (let place = 0; place < full.length; place += SLOT_WORDS) {
      const [low = 0, high = 0, row = 0] = full.subarray(place, place + SLOT_WORDS);
      if (row === 0) continue;
      if (this.#filter !== undefined) set(this.#filter, low, high);
      else this.#slots.set([low, high, row], this.#placeOf(low, high));
    }
    if (!isLargest) return;
    full.fill(0);
    this.#count = 0;
  }

  #append(table: Uint32Array): void {
    this.#filter ??= new Uint8Array(FILTER_BITS / 8);
    this.#file ??= openNamelessFile();
    const bytes = new Uint8Array(table.buffer);
    try {
      for (let done = 0; done < TABLE_BYTES; )
        done += writeSync(this.#file, bytes, done, TABLE_BYTES - done, this.#tables * TABLE_BYTES + done);
    } catch (fault) {
      throw toDiskFault(fault);
    }
    this.#tables += 1;
  }

  /** Looks into a table of the file as `#placeOf` looks into the one in memory. */
  #findInFile(table: number, low: number, high: number): number | undefined {
    for (let slot = low & (MOST_SLOTS - 1); ; slot = (slot + PAGE_SLOTS) & (MOST_SLOTS - 1)) {
      // The last page ends with the table, and the slots behind it are the first.
      const first = Math.min(slot, MOST_SLOTS - PAGE_SLOTS);
      const at = table * TABLE_BYTES + 4 * SLOT_WORDS * first;
      const read = readSync(this.#file ?? -1, this.#page, 0, this.#page.byteLength, at);
      if (read < this.#page.byteLength)
        throw new Error('the file of seen texts is shorter than it was written');
      for (let place = SLOT_WORDS * (slot - first); place < this.#page.length; place += SLOT_WORDS) {
        const row = this.#page[place + 2];
        if (row === 0) return undefined;
        if (this.#page[place] === low && this.#page[place + 1] === high) return row;
      }
      slot = first;
    }
  }
}

/** Adds a hash to the filter. */
function set(filter: Uint8Array, low: number, high: number): void {
  for (let probe = 0; probe < FILTER_PROBES; probe += 1) {
    const bit = bitOf(low, high, probe);
    filter[bit >>> 3] = (filter[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
}

function isSet(filter: Uint8Array, low: number, high: number): boolean {
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
