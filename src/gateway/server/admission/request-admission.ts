/**
 * Puts requests through `AdmissionControl`: first before their credential is checked, since that costs too;
 * requests with a body again once it has arrived, so that none holds a place while it is being sent.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../../base/model/scope.js';
import type { Urgency } from '../../../base/process/urgency.js';
import type { AdmissionControl, RequestKey } from './admission-control.js';

/** How much of a credential is remembered: too little to use it, enough to recognize it. */
const REMEMBERED_LENGTH = 12;
const MOST_KNOWN = 10_000;

/** Remembers the domain and user of each credential. */
export class CallerCache {
  readonly #keys = new LRUCache<string, RequestKey>({ max: MOST_KNOWN });

  /** The presumed caller: a credential never seen to be valid counts as its address. */
  find(authorization: string | undefined, address: string): RequestKey {
    const known =
      authorization === undefined ? undefined : this.#keys.get(authorization.slice(-REMEMBERED_LENGTH));
    return known ?? keyOfAddress(address);
  }

  note(authorization: string, principal: Principal): void {
    const ending = authorization.slice(-REMEMBERED_LENGTH);
    if (!this.#keys.has(ending)) this.#keys.set(ending, keyOfUser(principal));
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent: short. Called once the body has arrived, if there is one. */
    readonly urgencyOf?: ((request: FastifyRequest) => Urgency) | undefined;
  }
}

export interface AdmissionOptions {
  readonly admission: AdmissionControl;
  /** Admits requests of vital routes, which must not wait for permits that other requests hold. */
  readonly vitalAdmission: AdmissionControl;
  readonly callers: CallerCache;
}

/**
 * Register it right after the hook that creates `request.lifecycle`, before every hook that answers.
 */
export function useRequestAdmission(
  app: FastifyInstance,
  { admission, vitalAdmission, callers }: AdmissionOptions,
): void {
  const acquire = (request: FastifyRequest, done: (error?: Error) => void) => {
    const { lifecycle } = request;
    const entry = request.routeOptions.config.isVital
      ? vitalAdmission.acquire(keyOfAddress(lifecycle.address))
      : admission.acquire(callers.find(request.headers.authorization, lifecycle.address), urgencyOf(request));
    if ('release' in entry) {
      lifecycle.hold(entry);
      done();
      return;
    }
    entry.then(
      (permit) => {
        lifecycle.hold(permit);
        done();
      },
      (error: Error) => done(error),
    );
  };
  app.addHook('onRequest', (request, _reply, done) => {
    acquire(request, (refusal) => {
      request.lifecycle.refusal = refusal;
      done();
    });
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (waitsForBody(request)) request.lifecycle.releasePermit();
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (!waitsForBody(request) || request.routeOptions.config.body === 'streamed') done();
    else acquire(request, done);
  });
}

/** A user of a domain. */
export function keyOfUser({ domainId, id }: Pick<Principal, 'domainId' | 'id'>): RequestKey {
  return { tenant: `domain:${domainId}`, caller: id, isAnonymous: false };
}

/** A caller known by its address only. */
export function keyOfAddress(address: string): RequestKey {
  return { tenant: `address:${address}`, caller: '', isAnonymous: true };
}

/**
 * Without its body the request is short: only its credential is checked. Its urgency is known when it comes
 * again.
 */
function urgencyOf(request: FastifyRequest): Urgency {
  const { urgencyOf } = request.routeOptions.config;
  if (urgencyOf === undefined || (waitsForBody(request) && request.body === undefined)) return 'short';
  return urgencyOf(request);
}

function waitsForBody(request: FastifyRequest): boolean {
  return !request.routeOptions.config.isVital && hasBody(request);
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}
