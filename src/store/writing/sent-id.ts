/** Separates the `_id` of what a caller sent from the fields. */
import type { ErrorDetail } from '../../base/errors.js';
import type { JsonObject } from '../../base/json/json.js';
import { isRecordId } from '../../base/model/record-id.js';

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
