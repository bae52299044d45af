/** A connected client: its caller, its subscriptions, and the size of its unread events. */
import { CloseCode } from 'graphql-ws';
import { type Rate, ServiceError } from '../../../base/errors.js';
import type { Principal, Scope } from '../../../base/model/scope.js';
import { type DomainDirectory, resolveScope } from '../../../services/auth/resolve-scope.js';
import { parseBearer } from '../../../services/auth/service-secret.js';
import type { EventQueue, QueueBudget } from './event-queue.js';

/** The part of a WebSocket that the protocol needs. */
export interface LiveSocket {
  readonly protocol: string;
  /** Bytes that are written but not yet sent. */
  readonly bufferedBytes: number;
  /** Resolves when the network has accepted the message. */
  send(message: string): Promise<void>;
  close(code: number, reason: string): void;
}

/** The caller's data in the upgrade request. */
export interface LiveOrigin {
  readonly requestId: string;
  /** The IP address of the caller. */
  readonly address: string;
  /** The value of `Authorization`: `Bearer <token or key>`. */
  readonly authorization: string | undefined;
  readonly askedDomain: string | undefined;
}

/** The close codes of the protocol, and those of RFC 6455 for reasons other than the caller's fault. */
export const CLOSE = {
  goingAway: 1001,
  tooLarge: 1009,
  tryAgainLater: 1013,
  unauthorized: CloseCode.Unauthorized,
  /** On this code, clients of graphql-ws reconnect, with a new token if they have one. */
  forbidden: CloseCode.Forbidden,
  /** Also of messages and connections. */
  tooMany: CloseCode.TooManyInitialisationRequests,
} as const;

/** A close frame holds 123 bytes; a character cut in two grows to three bytes. */
const MAX_REASON_BYTES = 120;

export class LiveConnection implements QueueBudget {
  readonly origin: LiveOrigin;
  /** Set by `connection_init`. */
  caller: LiveCaller | undefined;
  /** The user, by whom connections and messages are counted. */
  user: Pick<Principal, 'domainId' | 'id'> | undefined;
  /** `domain/user`. */
  principal: string | undefined;
  eventsSent = 0;
  /** Whether the latest message is within the rate of the user. */
  rate: Rate | undefined;
  /** Messages in a row that exceeded the rate. */
  excess = 0;
  /** Called when the subscription of the latest message has begun. */
  onBegin: (() => void) | undefined;
  /** The reason, if this side closed it. */
  closeReason: string | undefined;
  readonly #socket: LiveSocket;
  readonly #maxWaitingBytes: number;
  readonly #queues = new Set<EventQueue>();
  #waitingBytes = 0;
  #isOpen = true;

  constructor(socket: LiveSocket, origin: LiveOrigin, maxWaitingBytes: number) {
    this.#socket = socket;
    this.origin = origin;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get subscriptions(): number {
    return this.#queues.size;
  }

  adopt(queue: EventQueue): void {
    this.#queues.add(queue);
    queue.onEnd(() => this.#queues.delete(queue));
  }

  waits(bytes: number): void {
    this.#waitingBytes += bytes;
    this.assertKeepsUp();
  }

  sent(bytes: number): void {
    this.#waitingBytes -= bytes;
    this.eventsSent += 1;
  }

  dropped(bytes: number): void {
    this.#waitingBytes -= bytes;
  }

  /** Ends the connection if too much is waiting to be read. */
  assertKeepsUp(): void {
    if (this.#waitingBytes + this.#socket.bufferedBytes <= this.#maxWaitingBytes) return;
    this.close(CLOSE.tryAgainLater, 'Client too slow: the buffer of events is full');
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.closeReason = reason;
    this.#socket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
    for (const queue of [...this.#queues]) void queue.return();
  }

  /** Called when the socket is closed, by either side. */
  ended(): void {
    this.#isOpen = false;
    for (const queue of [...this.#queues]) void queue.return();
  }
}

export interface LiveCallerOptions {
  readonly authenticator: { authenticate(bearer: string, address: string): Promise<Principal> };
  readonly domains: DomainDirectory;
}

export interface LiveCaller {
  /**
   * The caller with its current rights; the principal is the same object until something about it changes.
   * Usually without a round trip.
   *
   * @throws UNAUTHENTICATED (401) if there is no credential, or it has ended; FORBIDDEN, NOT_FOUND for the
   *   domain; UNAVAILABLE
   */
  scope(): Promise<Scope>;
}

export function createLiveCaller(
  { authenticator, domains }: LiveCallerOptions,
  { authorization, askedDomain, requestId, address }: LiveOrigin,
): LiveCaller {
  return {
    async scope() {
      const principal = await authenticator.authenticate(bearerOf(authorization), address);
      await domains.assureKnown(principal.domainId, askedDomain?.trim());
      return resolveScope(domains, { principal, askedDomain, requestId });
    },
  };
}

/** Whether an error means that the caller must go, as opposed to a temporary failure to check. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status < 500;
}

function bearerOf(authorization: string | undefined): string {
  const bearer = parseBearer(authorization);
  if (bearer !== undefined) return bearer;
  throw new ServiceError(
    'UNAUTHENTICATED',
    'connection_init needs a credential: {"Authorization": "Bearer <token or API key>"}.',
  );
}
