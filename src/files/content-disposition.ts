/** How a browser is to take a file: shown, or saved under its name. @see RFC 6266, RFC 8187 */

/** Types that hold no script of their own and that browsers show. All others are saved. */
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

export function contentDispositionOf(
  file: { readonly name: string; readonly contentType: string },
  use: 'show' | 'save',
): string {
  const [type = ''] = file.contentType.toLowerCase().split(';', 1);
  const kind = use === 'show' && SHOWN.has(type.trim()) ? 'inline' : 'attachment';
  // Clients of before 2011 know no other form: what is not plain becomes an underscore for them.
  const plain = file.name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeExtended(file.name)}`;
}

function encodeExtended(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
