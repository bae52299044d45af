/** Conditional requests: a record's version is its ETag. @see RFC 9110 section 13, decisions 1 */
import { faultAt, ServiceError } from '../../base/errors.js';

export function printEtag(version: number): string {
  return `"${version}"`;
}

const TAG = /(W\/)?"([!#-~\u0080-\u00ff]*)"/g;

/**
 * The versions in `If-Match`, any of which the record may have; `undefined` if there is none, or `*`, which
 * any existing record satisfies. A tag that is not ours is of no version.
 *
 * @throws MALFORMED_REQUEST (400) for what is no list of tags; VERSION_CONFLICT (412) for weak tags of ours
 *   alone: a write compares strongly
 */
export function parseIfMatch(header: string | string[] | undefined): readonly number[] | undefined {
  const text = Array.isArray(header) ? header.join(',') : header;
  if (text === undefined || text.trim() === '*') return undefined;
  const tags = [...text.matchAll(TAG)];
  const isList = !/[^\s,]/.test(text.replace(TAG, '')) && !/t\s*t/.test(text.replace(TAG, 't'));
  if (tags.length === 0 || !isList) {
    const expected = 'entity tags in quotes as ETag has them, such as "3", separated by commas; or *';
    const detail = `If-Match is ${JSON.stringify(text)}; expected ${expected}.`;
    throw faultAt('MALFORMED_REQUEST', detail, { parameter: 'If-Match', expected, sent: text });
  }
  const strong = tags.filter(([, weak]) => weak === undefined);
  const [weak] = tags;
  if (strong.length === 0 && weak !== undefined) {
    throw new ServiceError(
      'VERSION_CONFLICT',
      `If-Match has the weak tag ${weak[0]}, which no write accepts: a proxy that changes answers has ` +
        `weakened it. Send "${weak[2]?.replace(ENCODING, '')}", or read the record without that proxy.`,
    );
  }
  return strong.flatMap(([, , tag = '']) => (VERSION.test(tag) ? [Number.parseInt(tag, 10)] : []));
}

const ENCODING = /-(?:br|gzip)$/;
const VERSION = /^\d{1,9}(?:-(?:br|gzip))?$/;

/**
 * @throws MALFORMED_REQUEST (400) for `If-None-Match` on a write: ignoring it would overwrite what it
 *   protects
 */
export function assertNoIfNoneMatch(header: string | string[] | undefined): void {
  if (header === undefined) return;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'If-None-Match is for reading, and as * for PUT; guard a write with If-Match and the ETag read.',
  );
}
