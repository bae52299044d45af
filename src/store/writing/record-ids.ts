import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const RANDOM_BYTES = 16;

/**
 * The ids of new records: version 7 UUIDs, each after all that were made before. The random bytes of many are
 * asked for at once, because to ask takes longer than all else that an id needs.
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
        // Half of the range, so that no millisecond comes to its end.
        this.#seq = own.readUInt32BE() >>> 1;
      } else {
        this.#seq += 1;
      }
      return uuidv7({ msecs: this.#msecs, seq: this.#seq, random: own });
    });
  }
}
