/** A connected client: who it is, its subscriptions, and how much it leaves unread. */
import { CloseCode } from 'graphql-ws';
import type { Principal } from '../../../base/model/scope.js';
import type { EventQueue, QueueBudget } from './event-queue.js';
import type { LiveCaller } from './live-caller.js';

/** The rate of a user. */
export interface LiveRate {
  readonly allowed: boolean;
  readonly limit: number;
  readonly resetSeconds: number;
}

/** The part of a WebSocket that the protocol needs. */
export interface LiveSocket {
  readonly protocol: string;
  /** Bytes that are written but not yet sent. */
  readonly bufferedBytes: number;
  /** Resolves when the network has accepted the message. */
  send(message: string): Promise<void>;
  close(code: number, reason: string): void;
}

/** What is known of the upgrade request. */
export interface LiveOrigin {
  readonly requestId: string;
  readonly address: string;
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
  rate: LiveRate | undefined;
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
    this.close(CLOSE.tryAgainLater, 'Too slow: more events wait for you than are kept');
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
