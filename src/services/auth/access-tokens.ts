/** Access tokens: JWTs (RFC 9068) signed with HS256; no other kind of JWT is accepted. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { invariant } from '../../base/errors.js';
import { type Delegation, StoredScopes } from './key-scopes.js';
import type { TokenKey } from './service-secret.js';

/** The claims of an access token. It is valid only as long as its session or key, and its user, are. */
export interface AccessClaims {
  readonly userId: string;
  readonly domainId: string;
  /** The origin: a login, or an API key that was exchanged. */
  readonly origin: { readonly kind: 'session' | 'key'; readonly id: string };
  /** The user's `tokenEpoch` when it was signed. */
  readonly epoch: number;
  /** Restricts the token to a part of the user's rights. Absent: all of them. */
  readonly delegation?: Delegation | undefined;
}

const ISSUER = 'campus-gateway';
const AUDIENCE = 'campus-gateway';
const TYPE = 'at+jwt';
const CHECKS = {
  algorithms: ['HS256'],
  issuer: ISSUER,
  audience: AUDIENCE,
  typ: TYPE,
  requiredClaims: ['sub', 'exp', 'iat'],
};

/** Longer tokens are refused without parsing; those of a login have some 400 characters. */
export const LONGEST_TOKEN = 2048;

const payloadSchema = z.object({
  sub: z.string().min(1),
  dom: z.string().min(1),
  sid: z.uuid().optional(),
  key: z.uuid().optional(),
  epoch: z.number().int(),
  exp: z.number().int(),
  rol: z.array(z.string()).optional(),
  scp: StoredScopes.omit({ accounts: true }).optional(),
});

/**
 * Signs with the first key and verifies with any.
 *
 * Before anything is parsed, the header of a token is compared as text with the headers this service writes,
 * one per key: `alg: none`, another algorithm, an unknown key id or an embedded key are never considered. A
 * verified token is cached, by its whole text, until it expires.
 *
 * @see decisions 6
 */
export class AccessTokens {
  readonly #current: TokenKey;
  readonly #keysByHeader: ReadonlyMap<string, KeyObject>;
  readonly #verified: LRUCache<string, { claims: AccessClaims; expiresAt: number }>;

  constructor(options: { keys: readonly TokenKey[]; cacheSize?: number }) {
    const [current] = options.keys;
    invariant(current, 'access tokens need a key to sign with');
    this.#current = current;
    this.#keysByHeader = new Map(options.keys.map((key) => [printHeader(key), createSecretKey(key.secret)]));
    this.#verified = new LRUCache({ max: options.cacheSize ?? 10_000 });
  }

  /** `expiresAt` is in whole seconds of Unix time. */
  async sign(claims: AccessClaims, expiresAt: number): Promise<string> {
    const token = new SignJWT({
      sub: claims.userId,
      dom: claims.domainId,
      [claims.origin.kind === 'session' ? 'sid' : 'key']: claims.origin.id,
      epoch: claims.epoch,
      exp: expiresAt,
      ...(claims.delegation && { rol: claims.delegation.roles, scp: claims.delegation.scopes }),
      ...{ aud: AUDIENCE, iss: ISSUER },
    });
    return await token.setProtectedHeader(headerOf(this.#current)).setIssuedAt().sign(this.#current.secret);
  }

  /** The claims, or `undefined` unless this service signed the token and it has not expired. */
  async verify(token: string, now: number = Date.now()): Promise<AccessClaims | undefined> {
    const known = this.#verified.get(token);
    if (known) {
      if (now < known.expiresAt) return known.claims;
      this.#verified.delete(token);
      return undefined;
    }
    if (token.length > LONGEST_TOKEN) return undefined;
    const key = this.#keysByHeader.get(token.slice(0, token.indexOf('.')));
    if (!key || !isCanonical(token.slice(token.lastIndexOf('.') + 1))) return undefined;
    // The caller does not learn why a forged token is invalid.
    const verified = await jwtVerify(token, key, { ...CHECKS, currentDate: new Date(now) }).catch(() => {});
    const { data: payload } = payloadSchema.safeParse(verified?.payload);
    const claims = payload && claimsOf(payload);
    if (claims) this.#verified.set(token, { claims, expiresAt: payload.exp * 1000 });
    return claims;
  }

  /** The number of cached tokens; never more than `cacheSize`. */
  get remembered(): number {
    return this.#verified.size;
  }
}

/** The last character of a signature has two unused bits, so four texts would decode to the same token. */
function isCanonical(signature: string): boolean {
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function claimsOf(payload: z.output<typeof payloadSchema>): AccessClaims | undefined {
  const { sub: userId, dom: domainId, epoch, sid, key, rol: roles, scp: scopes } = payload;
  if ((sid === undefined) === (key === undefined) || (roles === undefined) !== (scopes === undefined))
    return undefined;
  const origin =
    sid === undefined ? ({ kind: 'key', id: key ?? '' } as const) : ({ kind: 'session', id: sid } as const);
  if (roles === undefined || scopes === undefined) return { userId, domainId, epoch, origin };
  return { userId, domainId, epoch, origin, delegation: { roles, scopes } };
}

/** The header of every token signed with this key. The order of its members is part of its text. */
function headerOf(key: TokenKey) {
  return { alg: 'HS256', typ: TYPE, kid: key.id };
}

function printHeader(key: TokenKey): string {
  return Buffer.from(JSON.stringify(headerOf(key))).toString('base64url');
}
