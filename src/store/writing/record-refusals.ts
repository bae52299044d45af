/** The refusals of writes, in the words a caller reads. */

import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { type ErrorDetail, faultAt, RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import { isRecordId } from '../../base/model/record-id.js';
import type { RecordVerb } from '../../base/model/scope.js';
import { type EffectiveAccess, RIGHTS_EXPECTATION } from '../access/access.js';
import { BOOKS_CLOSED_UNTIL } from '../catalog/known-properties.js';

/**
 * Refuses fields that the caller may not set. @throws FORBIDDEN (403) naming each, with its record if there
 * are several
 */
export function assertWritable(
  records: readonly JsonObject[],
  access: EffectiveAccess,
  collection: Collection,
): void {
  if (access.readOnlyFields.size === 0) return;
  const errors = records.flatMap((record, index) =>
    Object.keys(record)
      .filter((name) => access.readOnlyFields.has(name))
      .map((name): ErrorDetail => {
        const pointer = records.length === 1 ? `/${name}` : `/${index}/${name}`;
        const isRight = collection.fieldsByName.get(name)?.isRight === true;
        const detail = `you may not set ${name}`;
        return isRight ? { pointer, detail, expected: RIGHTS_EXPECTATION } : { pointer, detail };
      }),
  );
  const [first] = errors;
  if (first === undefined) return;
  const why = first.expected === undefined ? '' : `; ${first.expected}`;
  throw new ServiceError('FORBIDDEN', `${first.detail} in ${collection.name}${why}`, { errors });
}

export function notFound(collection: Collection, id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no record "${id}" in ${collection.name}`);
}

export function gone(collection: Collection, id: string): ServiceError {
  return new ServiceError('GONE', `the record "${id}" of ${collection.name} was removed`);
}

export function outOfRows(collection: Collection, verb: RecordVerb): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `you may not ${verb} this record of ${collection.name}: it is not among the rows your role reaches` +
      (collection.bookedOn === undefined
        ? ''
        : `, or its ${collection.bookedOn} is in the books that are closed (property ${BOOKS_CLOSED_UNTIL})`),
  );
}

/** One of these versions; with any other, a write is refused. */
export type ExpectedVersion = number | readonly number[] | undefined;

export function isExpected(version: number, expected: ExpectedVersion): boolean {
  return expected === undefined || [expected].flat().includes(version);
}

export function versionConflict(
  collection: Collection,
  id: string,
  versions: { readonly expected: number; readonly sent: number | readonly number[] },
): ServiceError {
  const sent = [versions.sent].flat().join(' or ') || 'a tag of another kind';
  const detail = `the record "${id}" of ${collection.name} has version ${versions.expected}, not ${sent}`;
  return faultAt('VERSION_CONFLICT', detail, {
    detail: 'read it again and decide anew',
    expected: String(versions.expected),
    sent,
  });
}

/** How often a write that was overtaken by another is tried before it fails. */
export const MAX_ATTEMPTS = 5;

export function overtaken(collection: Collection, id: string): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    `the record "${id}" of ${collection.name} is being changed too often; try again`,
    {
      retryAfterSeconds: RETRY_SOON_SECONDS,
    },
  );
}

export function tooManyRecords(count: number, max: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `at most ${max} records are stored at once (MAX_RECORDS_PER_WRITE), not ${count}`,
  );
}

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
