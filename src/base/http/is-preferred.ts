/**
 * Whether a `Prefer` header has a preference: a token, or a token with its value, as `count=exact`. Unknown
 * preferences are ignored. @see RFC 7240
 */
export function isPreferred(header: string | string[] | undefined, preference: string): boolean {
  if (header === undefined) return false;
  return String(header)
    .split(/[,;]/)
    .map((part) => part.replaceAll(/[\s"]/g, '').toLowerCase())
    .includes(preference);
}
