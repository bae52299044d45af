/** Without a repeated group, which would overflow the matcher's stack on a text of megabytes. */
const CHARACTERS = /^[A-Za-z0-9+/]*(={0,2})$/;

/** Whether a text is base64, padded or not. @see RFC 4648, section 4 */
export function isBase64(text: string): boolean {
  const [, padding] = CHARACTERS.exec(text) ?? [];
  if (padding === undefined) return false;
  return padding === '' ? text.length % 4 !== 1 : text.length % 4 === 0;
}
