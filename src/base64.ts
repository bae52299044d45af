/** No repeated group: over megabytes, one would take the matcher's stack. */
const CHARACTERS = /^[A-Za-z0-9+/]*(={0,2})$/;

/** Whether a text is base64, padded or not. @see RFC 4648, section 4 */
export function isBase64(text: string): boolean {
  const [, padding] = CHARACTERS.exec(text) ?? [];
  if (padding === undefined) return false;
  return padding === '' ? text.length % 4 !== 1 : text.length % 4 === 0;
}
