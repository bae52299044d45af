/** The data for a new domain: a school, or a branch. @see decisions 7 */
import { invalidAt } from '../../base/errors.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { findUnstorableText } from '../../base/model/unstorable-text.js';
import { assertPropertyValue } from './known-properties.js';

export interface NewDomain {
  /** Letters, digits, `_`, `.` and `-`; used in `X-Domain`. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** An IANA name; absent: that of the top domain, or for the top domain Asia/Kolkata. */
  readonly timeZone?: string | undefined;
}

const DOMAIN_ID = /^[A-Za-z0-9_.-]{1,64}$/;
const LONGEST_NAME = 200;

/** @throws INVALID_VALUE naming the invalid member */
export function assertNewDomain({ id, name, timeZone }: NewDomain): void {
  assertDomainId(id);
  if (toNormalText(name) === '' || name.length > LONGEST_NAME || findUnstorableText(name) !== undefined) {
    const detail = `name has 1 to ${LONGEST_NAME} characters.`;
    throw invalidAt(detail, { parameter: 'name' });
  }
  if (timeZone !== undefined) assertPropertyValue('timezone', timeZone);
}

export function isDomainId(text: string): boolean {
  return DOMAIN_ID.test(text) && text !== '.' && text !== '..';
}

/** @throws INVALID_VALUE for an invalid domain id */
export function assertDomainId(id: string): void {
  if (isDomainId(id)) return;
  const expected = '1 to 64 letters, digits, `_`, `.` or `-`';
  throw invalidAt(`"${id}" cannot be the id of a domain: ${expected}`, {
    parameter: 'id',
    detail: 'not an id',
    expected,
    sent: id,
  });
}
