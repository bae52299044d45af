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
