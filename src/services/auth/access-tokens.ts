/** Access tokens: JWTs (RFC 9068) signed with HS256; no other kind of JWT is accepted. */
import { createSigner, createVerifier } from 'fast-jwt';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { invariant, tryTo } from '../../base/errors.js';
import type { Delegation } from './key-scopes.js';
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
  scp: z
    .object({
      collections: z.record(z.string(), z.array(z.enum(['read', 'create', 'update', 'delete']))),
      reports: z.array(z.string()),
      scripts: z.array(z.string()),
    })
    .optional(),
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
  readonly #sign: (payload: Record<string, unknown>) => string;
  readonly #verifiersByHeader = new Map<string, (token: string) => unknown>();
  readonly #verified: LRUCache<string, { claims: AccessClaims; expiresAt: number }>;

  constructor(options: { keys: readonly TokenKey[]; cacheSize?: number }) {
    const [current] = options.keys;
    invariant(current, 'access tokens need a key to sign with');
    this.#sign = signerOf(current);
    for (const key of options.keys) this.#verifiersByHeader.set(headerOf(key), verifierOf(key));
    this.#verified = new LRUCache({ max: options.cacheSize ?? 10_000 });
  }

  /** `expiresAt` is in whole seconds of Unix time. */
  sign(claims: AccessClaims, expiresAt: number): string {
    return this.#sign({
      sub: claims.userId,
      dom: claims.domainId,
      [claims.origin.kind === 'session' ? 'sid' : 'key']: claims.origin.id,
      epoch: claims.epoch,
      exp: expiresAt,
      ...(claims.delegation && { rol: claims.delegation.roles, scp: claims.delegation.scopes }),
    });
  }

  /** The claims, or `undefined` unless this service signed the token and it has not expired. */
  verify(token: string, now: number = Date.now()): AccessClaims | undefined {
    const known = this.#verified.get(token);
    if (known) {
      if (now < known.expiresAt) return known.claims;
      this.#verified.delete(token);
      return undefined;
    }
    if (token.length > LONGEST_TOKEN) return undefined;
    const payload = this.#read(token);
    if (!payload || now >= payload.exp * 1000) return undefined;
    const claims = claimsOf(payload);
    if (claims) this.#verified.set(token, { claims, expiresAt: payload.exp * 1000 });
    return claims;
  }

  /** The number of cached tokens; never more than `cacheSize`. */
  get remembered(): number {
    return this.#verified.size;
  }

  #read(token: string): z.output<typeof payloadSchema> | undefined {
    const verify = this.#verifiersByHeader.get(token.slice(0, token.indexOf('.')));
    if (!verify || !isCanonical(token.slice(token.lastIndexOf('.') + 1))) return undefined;
    // The caller does not learn why a forged token is invalid.
    return tryTo(() => payloadSchema.parse(verify(token)));
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

function signerOf(key: TokenKey): (payload: Record<string, unknown>) => string {
  return createSigner({
    key: key.secret,
    algorithm: 'HS256',
    kid: key.id,
    iss: ISSUER,
    aud: AUDIENCE,
    header: { alg: 'HS256', typ: TYPE },
  });
}

function verifierOf(key: TokenKey): (token: string) => unknown {
  return createVerifier({
    key: key.secret,
    algorithms: ['HS256'],
    allowedIss: ISSUER,
    allowedAud: AUDIENCE,
    checkTyp: TYPE,
    requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat'],
    // Refused tokens would evict valid ones from its cache.
    cache: false,
  });
}

/** The header of every token signed with this key. */
function headerOf(key: TokenKey): string {
  const token = signerOf(key)({});
  return token.slice(0, token.indexOf('.'));
}
