/** The `Range` of a request. @see RFC 9110, 14.1.2 and 14.2 */
import type { ByteRange } from './blob-store.js';

/**
 *   range     : "bytes=" first "-" [ last ]  |  "bytes=-" length       all decimal
 *
 * A header that is not understood, or lists several ranges, is ignored, and the answer is the whole file.
 * `unsatisfiable`: the range is outside the file.
 */
export function parseByteRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] =
    /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
