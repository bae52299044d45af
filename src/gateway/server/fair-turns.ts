/**
 * Puts requests through the turnstile: first before their credential is checked, since that costs too;
 * requests with a body again once it has arrived, so that none holds a place while it is being sent.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../base/model/scope.js';
import type { Urgency } from '../../base/process/urgency.js';
import type { Asker, Passage, Turnstile } from './turnstile.js';

/** How much of a credential is remembered: too little to use it, enough to recognize it. */
const KNOWN_BY = 12;
const MOST_KNOWN = 10_000;

/** Remembers the domain and user of each credential. */
export class KnownAskers {
  readonly #askers = new LRUCache<string, Asker>({ max: MOST_KNOWN });

  /** The presumed asker, before authentication: a credential never seen to be valid counts as its address. */
  find(authorization: string | undefined, address: string): Asker {
    const known = authorization === undefined ? undefined : this.#askers.get(authorization.slice(-KNOWN_BY));
    return known ?? strangerAt(address);
  }

  note(authorization: string, principal: Principal): void {
    const ending = authorization.slice(-KNOWN_BY);
    if (!this.#askers.has(ending)) this.#askers.set(ending, askerOf(principal));
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent: short. Called once the body has arrived, if there is one. */
    readonly urgencyOf?: ((request: FastifyRequest) => Urgency) | undefined;
  }
}

export interface FairTurnsOptions {
  readonly turnstile: Turnstile;
  /** Admits requests of vital routes, which must not wait for places that other requests hold. */
  readonly vitalTurnstile: Turnstile;
  readonly askers: KnownAskers;
}

/**
 * Register it right after the hook that creates `request.arrival`, before every hook that answers.
 */
export function useFairTurns(
  app: FastifyInstance,
  { turnstile, vitalTurnstile, askers }: FairTurnsOptions,
): void {
  const enter = (request: FastifyRequest, done: (error?: Error) => void) => {
    const { arrival } = request;
    const entry = request.routeOptions.config.isVital
      ? vitalTurnstile.enter(strangerAt(arrival.address))
      : turnstile.enter(askers.find(request.headers.authorization, arrival.address), urgencyOf(request));
    if (isPassage(entry)) {
      arrival.enter(entry);
      done();
      return;
    }
    entry.then(
      (passage) => {
        arrival.enter(passage);
        done();
      },
      (error: Error) => done(error),
    );
  };
  app.addHook('onRequest', (request, _reply, done) => {
    enter(request, (refusal) => {
      request.arrival.refusal = refusal;
      done();
    });
  });
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (hasBody(request)) request.arrival.stepAside();
    done();
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (!hasBody(request) || request.routeOptions.config.body === 'streamed') done();
    else enter(request, done);
  });
}

/** Refuses requests that were not admitted. Register it after the hooks that set headers, such as CORS. */
export function useTurnRefusals(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => done(request.arrival.refusal));
}

/** A user of a domain. */
export function askerOf({ domainId, id }: Pick<Principal, 'domainId' | 'id'>): Asker {
  return { party: `domain:${domainId}`, member: id, isStranger: false };
}

/** A caller known by its address only. */
export function strangerAt(address: string): Asker {
  return { party: `address:${address}`, member: '', isStranger: true };
}

function isPassage(entry: Passage | Promise<Passage>): entry is Passage {
  return 'leave' in entry;
}

/**
 * Without its body the request is short: only its credential is checked. Its urgency is known when it comes
 * again.
 */
function urgencyOf(request: FastifyRequest): Urgency {
  const { urgencyOf } = request.routeOptions.config;
  if (urgencyOf === undefined || (hasBody(request) && request.body === undefined)) return 'short';
  return urgencyOf(request);
}

function hasBody({ headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config.isVital) return false;
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}
