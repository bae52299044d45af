/**
 * Turns the credential of a request into a scope, and counts the request against its rate. Callers read their
 * own writes by `X-Read-After`: the answer to a write contains its position in the log of the primary, and a
 * request that sends it back, to any gateway, reads nothing older.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { assertWithinRate, ServiceError } from '../../../base/errors.js';
import { callerName, type Principal } from '../../../base/model/scope.js';
import type { Authenticator } from '../../../services/auth/authenticator.js';
import type { Principals } from '../../../services/auth/principals.js';
import type { ProviderTokens } from '../../../services/auth/provider-tokens.js';
import { type DomainDirectory, resolveScope } from '../../../services/auth/resolve-scope.js';
import { findApiKey, parseBearer } from '../../../services/auth/service-secret.js';
import type { Database } from '../../../store/database/database.js';
import type { RateDecision } from './rate-limits.js';
import type { CallerCache } from './request-admission.js';

export interface AuthenticationOptions {
  readonly authenticator: Pick<Authenticator, 'authenticate'>;
  readonly principals: Pick<Principals, 'assertUnchanged'>;
  readonly domains: DomainDirectory;
  readonly rateLimits: { take(caller: string): RateDecision };
  /** The replicas, if there are any; the primary is always current. */
  readonly database: Pick<Database, 'replicas'>;
  /** Absent: no identity provider is configured. */
  readonly providerTokens?: Pick<ProviderTokens, 'exchange'> | undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The credential may be an access token of the identity provider. */
    readonly takesProviderTokens?: boolean;
  }
}

/**
 * A request without a credential continues without a scope, and is counted by its address; the resolver
 * decides whether that is enough. A wrong credential is refused and also counted by address, or guessing
 * would be free.
 *
 * @see interface 5, decisions 6, 7, 9
 */
export function useAuthentication(
  app: FastifyInstance,
  options: AuthenticationOptions,
  callers: Pick<CallerCache, 'note'>,
): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.isVital) return;
    const { lifecycle } = request;
    const { authorization } = request.headers;
    if (authorization === undefined) {
      countRequest(reply, options.rateLimits.take(`address:${lifecycle.address}`));
      return;
    }
    let principal: Principal;
    try {
      const bearer = await exchanged(request, bearerOf(authorization));
      principal = await options.authenticator.authenticate(bearer, lifecycle.address, (credential) => {
        lifecycle.credential = credential;
      });
    } catch (error) {
      countRequest(reply, options.rateLimits.take(`address:${lifecycle.address}`));
      throw error;
    }
    callers.note(authorization, principal);
    lifecycle.credential = principal.credential;
    countRequest(reply, options.rateLimits.take(callerName(principal)));
    const { askedDomain, requestId } = lifecycle;
    await options.domains.assureKnown(principal.domainId, askedDomain?.trim());
    const assertRights = () => options.principals.assertUnchanged(principal);
    const caller = { principal, askedDomain, requestId, assertRights, lifecycle };
    const scope = resolveScope(options.domains, caller);
    request.requestContext = lifecycle.toContext(scope);
    const { replicas } = options.database;
    if (replicas === undefined) return;
    lifecycle.notes.onWritten = (position) => {
      if (!reply.raw.headersSent) reply.header('x-read-after', position);
    };
    const { 'x-read-after': brought } = request.headers;
    if (typeof brought === 'string') await replicas.learn(scope, brought);
  });

  async function exchanged({ routeOptions, headers, lifecycle }: FastifyRequest, bearer: string) {
    if (!routeOptions.config.takesProviderTokens || !options.providerTokens) return bearer;
    const { address, requestId } = lifecycle;
    return await options.providerTokens.exchange(bearer, {
      address,
      requestId,
      userAgent: headers['user-agent'],
    });
  }
}

/**
 * Turns an API key in another header into a bearer, before anything looks at the request. Browsers send the
 * Basic credential of an address by themselves, also for pages of others: those are not taken.
 */
export function adoptCredential({ headers, url = '' }: IncomingMessage): void {
  const { authorization } = headers;
  const isForeign = /^(?:cross|same)-site$/.test(String(headers['sec-fetch-site']));
  const key =
    authorization !== undefined && isForeign ? undefined : findApiKey(authorization, headers['x-api-key']);
  if (key !== undefined) headers.authorization = `Bearer ${key}`;
  // OAuth libraries authenticate the client at the token endpoint; ours have no secret.
  else if (/^basic /i.test(authorization ?? '') && /^\/auth\/?(?:\?|$)/.test(url))
    delete headers.authorization;
}

/** @throws UNAUTHENTICATED (401) for another scheme */
function bearerOf(authorization: string): string {
  const bearer = parseBearer(authorization);
  if (bearer !== undefined) return bearer;
  throw new ServiceError(
    'UNAUTHENTICATED',
    'Send the header Authorization: Bearer <token or API key>. A key may also be ' +
      'the password of HTTP Basic, or stand in X-API-Key.',
  );
}

/**
 * Sets the headers of the rate.
 *
 * @throws TOO_MANY_REQUESTS (429)
 */
export function countRequest(reply: FastifyReply, decision: RateDecision): void {
  reply.header('ratelimit-limit', String(decision.limit));
  reply.header('ratelimit-remaining', String(decision.remaining));
  reply.header('ratelimit-reset', String(decision.resetSeconds));
  assertWithinRate(decision);
}
