/**
 * The credential in a header `Authorization: Bearer <token>`; `undefined` where there is none.
 * @see RFC 6750, section 2.1
 */
export function parseBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** How API keys begin. */
export const KEY_PREFIX = 'cg_';

/**
 * An API key that is sent as `X-API-Key`, or as the password or the user name of HTTP Basic, which programs
 * such as Excel and Power BI keep in their own store; `undefined` where there is none.
 */
export function findApiKey(authorization: string | undefined, header: unknown): string | undefined {
  if (authorization === undefined)
    return typeof header === 'string' && header.startsWith(KEY_PREFIX) ? header : undefined;
  const basic = /^basic +(\S+) *$/i.exec(authorization)?.[1];
  if (basic === undefined) return undefined;
  const [userName = '', ...password] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return [password.join(':'), userName].find((text) => text.startsWith(KEY_PREFIX));
}
