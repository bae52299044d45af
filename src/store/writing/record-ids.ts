import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { ErrorDetail } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import { isRecordId } from '../../base/model/record-id.js';

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

/** Splits off the client's `_id`, if there is one. */
export function takeSentId(
  record: JsonObject,
  pointer: string,
): { readonly id: string | undefined; readonly data: JsonObject; readonly errors: readonly ErrorDetail[] } {
  // Most imported records have none, and copying a record takes as long as checking it.
  if (!Object.hasOwn(record, '_id')) return { id: undefined, data: record, errors: NO_ERRORS };
  const { _id: id, ...data } = record;
  if (id === undefined || isRecordId(id)) return { id, data, errors: NO_ERRORS };
  const expected = '1 to 64 characters of A-Z, a-z, 0-9, `_`, `.`, `:`, `-`, other than `.` and `..` alone';
  const detail = `${pointer}/_id: ${expected} are expected`;
  return { id: undefined, data, errors: [{ pointer: `${pointer}/_id`, detail, expected, sent: id }] };
}

const NO_ERRORS: readonly ErrorDetail[] = [];

/** The fields of an update, which may repeat the `_id` but not change it. */
export function takeOwnSentId(
  record: JsonObject,
  id: string,
): { readonly data: JsonObject; readonly errors: readonly ErrorDetail[] } {
  const { _id: sent, ...data } = record;
  if (sent === undefined || sent === id) return { data, errors: [] };
  return {
    data,
    errors: [{ pointer: '/_id', detail: '/_id: the _id of a record never changes', expected: id, sent }],
  };
}
