/** Conditional requests: a record's version is its ETag. @see RFC 9110 section 13, decisions 1 */
import { faultAt, ServiceError } from '../../base/errors.js';
import type { RestRequest, RouteDescription } from './route.js';

export function printEtag(version: number): string {
  return `"${version}"`;
}

const TAG = /(W\/)?"([!#-~\u0080-\u00ff]*)"/g;

/**
 * The versions in `If-Match`, any of which the record may have; `undefined` if there is none, or `*`, which
 * any existing record satisfies. A tag that is not ours matches no version.
 *
 * @throws MALFORMED_REQUEST (400) for text that is not a list of tags; VERSION_CONFLICT (412) if all tags of
 *   ours are weak, because a write compares strongly
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
 * Checks the conditions of a write before it runs.
 *
 * @throws MALFORMED_REQUEST (400) for a condition that the write does not take: ignoring it would overwrite
 *   what it protects
 */
export function assertConditions(
  { parameters }: Pick<RouteDescription, 'parameters'>,
  headers: RestRequest['headers'],
): void {
  const takes = (name: string) => parameters.some((parameter) => parameter.name === name);
  for (const name of ['If-Match', 'If-None-Match']) {
    const value = headers[name.toLowerCase()];
    // Only writes of records take a key; a read looks at two headers, and no further.
    if (value === undefined || !takes('Idempotency-Key')) continue;
    if (takes(name) && (name === 'If-Match' || value === '*')) continue;
    const detail =
      `${name}: ${String(value)} is not taken here. Guard a change of a record with If-Match and its ETag, ` +
      'and a new record with PUT and If-None-Match: *.';
    throw faultAt('MALFORMED_REQUEST', detail, { parameter: name, sent: String(value) });
  }
}
