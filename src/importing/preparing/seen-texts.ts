/**
 * The texts that were seen in a file so far, with the row of each: 17 to 34 bytes a text, whatever its
 * length, where a map of texts would take over a hundred. A text is known by 64 bits of its hash.
 */
import { randomInt } from 'node:crypto';

const FIRST_SLOTS = 1 << 10;
/** Fuller than this, looking takes long. */
const MOST_FULL = 0.7;

export class SeenTexts {
  /** High and low half of the hash, and the row: three places a slot; row 0 is an empty slot. */
  #slots = new Uint32Array(3 * FIRST_SLOTS);
  #count = 0;
  readonly #seed = randomInt(0xffff_ffff);

  /** The row where the text was seen first; `undefined`: not yet. */
  find(text: string): number | undefined {
    const [high, low] = hashOf(text, this.#seed);
    const place = this.#placeOf(high, low);
    const row = this.#slots[place + 2];
    return row === 0 ? undefined : row;
  }

  /** Notes a text that was not seen yet; rows count from 1. */
  add(text: string, row: number): void {
    if (this.#count + 1 > MOST_FULL * (this.#slots.length / 3)) this.#grow();
    const [high, low] = hashOf(text, this.#seed);
    this.#put(high, low, row);
    this.#count += 1;
  }

  #put(high: number, low: number, row: number): void {
    const place = this.#placeOf(high, low);
    this.#slots[place] = high;
    this.#slots[place + 1] = low;
    this.#slots[place + 2] = row;
  }

  /** Where the hash stands, or would. */
  #placeOf(high: number, low: number): number {
    const slots = this.#slots.length / 3;
    let slot = low & (slots - 1);
    for (;;) {
      const place = 3 * slot;
      if (this.#slots[place + 2] === 0) return place;
      if (this.#slots[place] === high && this.#slots[place + 1] === low) return place;
      slot = (slot + 1) & (slots - 1);
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let place = 0; place < old.length; place += 3) {
      const row = old[place + 2] ?? 0;
      if (row > 0) this.#put(old[place] ?? 0, old[place + 1] ?? 0, row);
    }
  }
}

/**
 * 64 bits in two halves (MurmurHash's mixing); with a seed of its own, nobody can prepare texts that collide.
 */
function hashOf(text: string, seed: number): readonly [number, number] {
  let one = seed ^ 0xdeadbeef;
  let other = seed ^ 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  other = Math.imul(other ^ (other >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return [one >>> 0, other >>> 0];
}
