/**
 * The cookies of the gateway, which no script can read. Over TLS their names begin with `__Secure-`: browsers
 * take such a cookie only over TLS, so nobody between them and the gateway can replace it.
 *
 * @see RFC 6265bis 4.1.3
 */

export interface Cookie {
  readonly name: string;
  readonly isTls: boolean;
}

export interface PrintedCookie extends Cookie {
  /** '' removes the cookie, with `maxAgeSeconds` 0. */
  readonly value: string;
  readonly path: string;
  readonly maxAgeSeconds: number;
  /** Default: `Strict`. */
  readonly sameSite?: 'Strict' | 'Lax';
}

type CookieHeader = string | string[] | undefined;

const SECURE = '__Secure-';

/** Prints a `Set-Cookie` header. */
export function printCookie(cookie: PrintedCookie): string {
  return [
    `${nameOf(cookie)}=${cookie.value}`,
    `Path=${cookie.path}`,
    `Max-Age=${cookie.maxAgeSeconds}`,
    'HttpOnly',
    `SameSite=${cookie.sameSite ?? 'Strict'}`,
    ...(cookie.isTls ? ['Secure'] : []),
  ].join('; ');
}

/** Whether a `Cookie` header has a cookie, whatever its value. */
export function hasCookie(header: CookieHeader, cookie: Cookie): boolean {
  return valuesOf(header, cookie).length > 0;
}

/**
 * Returns the value of a cookie. Two cookies of one name come from two hosts that share a domain, and which
 * one is ours cannot be known; then, and without one, it is `undefined`.
 */
export function readCookie(header: CookieHeader, cookie: Cookie): string | undefined {
  const [value, other] = valuesOf(header, cookie);
  return other === undefined ? value : undefined;
}

function valuesOf(header: CookieHeader, cookie: Cookie): string[] {
  const start = `${nameOf(cookie)}=`;
  const parts = typeof header === 'string' ? header.split(';').map((part) => part.trim()) : [];
  return parts.filter((part) => part.startsWith(start)).map((part) => part.slice(start.length));
}

function nameOf({ name, isTls }: Cookie): string {
  return isTls ? SECURE + name : name;
}
