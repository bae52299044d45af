/**
 * Puts requests through the turnstile: before their credential is looked at, since that costs too, and those
 * with a body again when it is there, so that nobody holds a place while it sends.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../model/scope.js';
import type { Urgency } from '../urgency.js';
import type { Asker, Passage, Turnstile } from './turnstile.js';

/** How much of a credential is kept to know it again: too little to be used, enough to be its own. */
const KNOWN_BY = 12;
const MOST_KNOWN = 10_000;

/** Remembers which domain a credential turned out to be of. */
export class KnownAskers {
  readonly #askers = new LRUCache<string, Asker>({ max: MOST_KNOWN });

  /**
   * Who asks, before that is known for sure: a credential that was never right is no more than its address.
   */
  find(authorization: string | undefined, address: string): Asker {
    const known = authorization === undefined ? undefined : this.#askers.get(authorization.slice(-KNOWN_BY));
    return known ?? { party: `address:${address}`, member: '', isStranger: true };
  }

  note(authorization: string, { domainId, credential }: Principal): void {
    const ending = authorization.slice(-KNOWN_BY);
    if (this.#askers.has(ending)) return;
    this.#askers.set(ending, { party: `domain:${domainId}`, member: credential.id, isStranger: false });
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent: short. Asked once the body is there, where there is one. */
    readonly urgencyOf?: ((request: FastifyRequest) => Urgency) | undefined;
  }
}

export interface FairTurnsOptions {
  readonly turnstile: Turnstile;
  readonly askers: KnownAskers;
}

/** To follow what makes `request.arrival`, and to come before the hook that looks at the credential. */
export function useFairTurns(app: FastifyInstance, { turnstile, askers }: FairTurnsOptions): void {
  const enter = (request: FastifyRequest, done: (error?: Error) => void) => {
    const { arrival } = request;
    const asker = askers.find(request.headers.authorization, arrival.address);
    const entry = turnstile.enter(asker, urgencyOf(request));
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
    if (request.routeOptions.config.isVital) done();
    else enter(request, done);
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

function isPassage(entry: Passage | Promise<Passage>): entry is Passage {
  return 'leave' in entry;
}

/** A body is there only when its request comes again; until then it is short: its credential is looked at. */
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
