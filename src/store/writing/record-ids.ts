import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const RANDOM_BYTES = 16;

/**
 * Generates ids for new records: version 7 UUIDs in increasing order. Random bytes are fetched for many ids
 * at once, because fetching takes longer than everything else.
 */
export class RecordIds {
  #msecs = 0;
  #seq = 0;

  make(count: number): readonly string[] {
    const random = randomBytes(count * RANDOM_BYTES);
    const now = Date.now();
    return Array.from({ length: count }, (_, index) => {
      const own = random.subarray(index * RANDOM_BYTES, (index + 1) * RANDOM_BYTES);
      if (now > this.#msecs) {
        this.#msecs = now;
        // Uses half of the range, so that a millisecond never runs out of ids.
        this.#seq = own.readUInt32BE() >>> 1;
      } else {
        this.#seq += 1;
      }
      return uuidv7({ msecs: this.#msecs, seq: this.#seq, random: own });
    });
  }
}
