/**
 * The credential in a header `Authorization: Bearer <token>`; `undefined` where there is none.
 * @see RFC 6750, section 2.1
 */
export function parseBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}
