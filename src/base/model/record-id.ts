/** The pattern of an `_id`, which OpenAPI also prints. `isRecordId` has the whole rule. */
export const RECORD_ID_PATTERN = '^[A-Za-z0-9_.:-]{1,64}$';

const ID = new RegExp(RECORD_ID_PATTERN);

/** Whether this can be the `_id` of a record. @see decisions 1 */
export function isRecordId(text: unknown): text is string {
  // Addresses resolve a step of `.` or `..` away: the record would have none.
  return typeof text === 'string' && ID.test(text) && text !== '.' && text !== '..';
}
