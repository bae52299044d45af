/**
 * Whether a `Prefer` header asks for something: a token, or a token with its value, as `count=exact`. A
 * preference that is not known is none. @see RFC 7240
 */
export function isPreferred(header: string | string[] | undefined, preference: string): boolean {
  if (header === undefined) return false;
  return String(header)
    .split(/[,;]/)
    .map((part) => part.replaceAll(/[\s"]/g, '').toLowerCase())
    .includes(preference);
}
