/** Conditional requests: a record's version is its ETag. @see RFC 9110 section 13, decisions 1 */
import { ServiceError } from '../../base/errors.js';

export function printEtag(version: number): string {
  return `"${version}"`;
}

/**
 * The version in `If-Match`; `undefined` if there is none, or `*`, which any existing record satisfies. Of
 * several the highest, since versions only increase. A tag that is not ours counts as version 0, which no
 * record has.
 */
export function parseIfMatch(header: string | string[] | undefined): number | undefined {
  const text = textOf(header);
  if (text === undefined || text.trim() === '*') return undefined;
  return Math.max(0, ...versionsIn(text, /^"(\d{1,9})(?:-(?:br|gzip))?"$/));
}

/**
 * @throws MALFORMED_REQUEST (400) for `If-None-Match` on a write: ignoring it would overwrite what it
 *   protects
 */
export function assertNoIfNoneMatch(header: string | string[] | undefined): void {
  if (header === undefined) return;
  throw new ServiceError(
    'MALFORMED_REQUEST',
    'If-None-Match is for reading; guard a write with If-Match and the ETag read.',
  );
}

function versionsIn(text: string, pattern: RegExp): number[] {
  return text.split(',').flatMap((tag) => {
    const match = pattern.exec(tag.trim());
    return match?.[1] === undefined ? [] : [Number(match[1])];
  });
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}
