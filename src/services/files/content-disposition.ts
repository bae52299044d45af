import type { ByteRange } from './blob-store.js';

/** How a browser should treat a file: display it, or save it under its name. @see RFC 6266, RFC 8187 */

/** Types that browsers display and that cannot contain scripts. All others are saved. */
const SHOWN = new Set([
  'application/pdf',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/csv',
  'text/plain',
  'video/mp4',
  'video/webm',
]);

/** They let `exe.txt` be read as `txt.exe`, or end a line. Joiners, which Indian scripts need, are none. */
const MISLEADING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

export function contentDispositionOf(
  file: { readonly name: string; readonly contentType: string },
  use: 'show' | 'save',
): string {
  const [type = ''] = file.contentType.toLowerCase().split(';', 1);
  const kind = use === 'show' && SHOWN.has(type.trim()) ? 'inline' : 'attachment';
  // For clients older than 2011; other characters become underscores.
  const name = file.name.replace(MISLEADING, '_');
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`;
}

function encodeExtended(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

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
