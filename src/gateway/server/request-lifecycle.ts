/**
 * The life of a request from its arrival to the end of its answer: its id, context and signal, and what is
 * observed of it. A single listener on `close` serves all of these: it is the only event for a caller that
 * has gone.
 */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { resetConnection } from '../../base/http/text-answer.js';
import { Ending, type EndSignal } from '../../base/model/end-signal.js';
import { type Credential, credentialName, type Scope } from '../../base/model/scope.js';
import { Slots } from '../../base/process/slots.js';
import { withinTrace } from '../../base/process/traced.js';
import type { Permit } from '../../store/database/fair-queue.js';
import type { RequestContext } from '../resolvers/request-context.js';
import { RequestNotes } from '../resolvers/request-notes.js';
import type { Observe } from './observation/observation.js';
import { type SecurityHeaders, TLS_HEADERS } from './sending/security-headers.js';
import type { UnreadAnswers } from './sending/unread-answers.js';

/** The form of a request id that a caller may choose; for anything else we generate one. */
const SANE_ID = /^[A-Za-z0-9_.:-]{1,128}$/;

const LONGEST_USER_AGENT = 256;

/** The facts of a request from its first line and headers, and its duration. */
export class RequestLifecycle {
  /** Notes made during the request, for the log and the metrics. */
  readonly notes: RequestNotes;
  readonly hasCredential: boolean;
  readonly userAgent: string | undefined;
  readonly askedDomain: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The credential that was recognized, even if it was then refused; `undefined` if none was. */
  credential: Credential | undefined;
  /** Why the request was not admitted. */
  refusal: Error | undefined;
  readonly #ending = new Ending();
  #permit: Permit | undefined;
  #isOver = false;

  constructor(
    readonly requestId: string,
    readonly address: string,
    headers: IncomingHttpHeaders,
    /** The template of the path; `undefined` if the path is unknown. */
    public route?: string,
  ) {
    this.notes = new RequestNotes(route);
    this.hasCredential = headers.authorization !== undefined;
    this.userAgent = headers['user-agent']?.slice(0, LONGEST_USER_AGENT);
    this.askedDomain = single(headers['x-domain']);
    this.idempotencyKey = single(headers['idempotency-key']);
  }

  /**
   * The context for resolvers. It has no scope until the caller is authenticated, or if there is no
   * credential.
   */
  toContext(scope?: Scope): RequestContext {
    return {
      scope,
      requestId: this.requestId,
      address: this.address,
      userAgent: this.userAgent,
      askedDomain: this.askedDomain,
      idempotencyKey: this.idempotencyKey,
      signal: this.#ending,
    };
  }

  /** Names the path of a request whose method it does not serve. */
  setRoute(route: string): void {
    this.route = route;
    this.notes.operation = route;
  }

  /** Aborts the work when the caller has gone. */
  get signal(): EndSignal {
    return this.#ending;
  }

  /** Keeps the permit of the request until `releasePermit` or the end. */
  hold(permit: Permit): void {
    this.#permit = permit;
    if (this.#isOver) permit.release();
  }

  /** Gives up the permit early: what the request waits for now has limits of its own. */
  releasePermit(): void {
    this.#permit?.release();
  }

  over(): void {
    this.#isOver = true;
    this.#permit?.release();
  }

  abandon(): void {
    this.#ending.end(new Error('the caller has gone'));
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Present from the first hook on. */
    lifecycle: RequestLifecycle;
    /** The context for resolvers; without a scope until the credential has been checked. */
    requestContext: RequestContext;
  }
  interface FastifyContextConfig {
    /**
     * Answered during maintenance too, and neither authenticated nor counted. Its answer must cost no more
     * than a refusal.
     */
    readonly isVital?: boolean;
  }
}

/** The requests in progress, so that a stop can wait for them. */
export class RequestsInFlight {
  readonly #responses = new Slots<ServerResponse>();
  #onEmpty: (() => void) | undefined;

  get count(): number {
    return this.#responses.size;
  }

  /** Returns the function to call at the end. */
  arrived(response: ServerResponse): () => void {
    const slot = this.#responses.add(response);
    return () => {
      this.#responses.remove(slot, response);
      if (this.#responses.size === 0) this.#onEmpty?.();
    };
  }

  /** Resets the connections of answers that have begun, so that clients do not take them for complete. */
  cut(): void {
    for (const response of this.#responses) {
      if (response.headersSent && !response.writableFinished) resetConnection(response);
    }
  }

  /** Resolves when no request is left, or after `timeoutMs`, to the number still in progress. */
  async drain(timeoutMs: number): Promise<number> {
    if (this.count === 0) return 0;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await Promise.race([empty, sleep(timeoutMs, undefined, { ref: false })]);
    return this.count;
  }
}

/** Registers the first hook; the others rely on `request.lifecycle`. */
export function useLifecycle(
  app: FastifyInstance,
  options: {
    readonly inFlight: RequestsInFlight;
    readonly observe: Observe;
    readonly headers: SecurityHeaders;
    /** Absent: answers are small, or share their memory. */
    readonly unread?: UnreadAnswers;
  },
): void {
  app.decorateRequest('lifecycle');
  app.decorateRequest('requestContext');
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    const lifecycle = new RequestLifecycle(request.id, request.ip, request.headers, request.routeOptions.url);
    request.lifecycle = lifecycle;
    request.requestContext = lifecycle.toContext();
    reply.headers(options.headers);
    if (request.protocol === 'https') reply.headers(TLS_HEADERS);
    reply.header('x-request-id', request.id);
    const left = options.inFlight.arrived(reply.raw);
    reply.raw.once('prefinish', () =>
      options.unread?.written({
        response: reply.raw,
        address: lifecycle.address,
        requestId: lifecycle.requestId,
      }),
    );
    const atTheEnd = () => {
      left();
      lifecycle.over();
      // Status 101: a WebSocket took over the connection.
      const isComplete = reply.raw.writableFinished || reply.raw.statusCode === 101;
      if (!isComplete) lifecycle.abandon();
      const { scope } = request.requestContext;
      options.observe({
        kind: 'requestEnded',
        requestId: lifecycle.requestId,
        method: request.method,
        url: request.url,
        route: lifecycle.route ?? 'unknown',
        status: reply.raw.statusCode,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        address: lifecycle.address,
        principal: scope && `${scope.domain.id}/${scope.principal.id}`,
        credential: lifecycle.credential && credentialName(lifecycle.credential),
        operation: lifecycle.notes.operation,
        cost: lifecycle.notes.cost,
        errorCode: lifecycle.notes.errorCode,
        isComplete,
      });
    };
    reply.raw.once('close', withinTrace(atTheEnd));
    done();
  });
}

/** Fastify's `genReqId`: accepts the caller's `X-Request-Id` if it is well-formed, else generates one. */
export function requestIdOf(request: { readonly headers: IncomingHttpHeaders }): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID();
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
