/** The refusals of writes, in the words a caller reads. */
import { type ErrorDetail, RETRY_SOON_SECONDS, ServiceError } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
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
        const detail = `${name} is not yours to set`;
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
  return new ServiceError('VERSION_CONFLICT', detail, {
    errors: [{ detail: 'read it again and decide anew', expected: String(versions.expected), sent }],
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
