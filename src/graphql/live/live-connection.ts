/** One client that stays connected: who it is, what it has subscribed to, and how much it leaves unread. */
import { CloseCode } from 'graphql-ws';
import type { EventQueue, QueueBudget } from './event-queue.js';
import type { LiveCaller } from './live-caller.js';

/** A WebSocket, as far as the protocol needs one. */
export interface LiveSocket {
  readonly protocol: string;
  /** Written to the network, or about to be. */
  readonly bufferedBytes: number;
  /** Resolves when the network has taken it. */
  send(message: string): Promise<void>;
  close(code: number, reason: string): void;
  /** Must be called once; what the listener throws closes the socket. */
  onMessage(listener: (message: string) => Promise<void>): void;
}

/** What is known of the request that became the connection. */
export interface LiveArrival {
  readonly requestId: string;
  readonly address: string;
  readonly authorization: string | undefined;
  readonly askedDomain: string | undefined;
}

/** Codes of the protocol, and those of RFC 6455 for what is no fault of the caller. */
export const CLOSE = {
  goingAway: 1001,
  tooLarge: 1009,
  tryAgainLater: 1013,
  unauthorized: CloseCode.Unauthorized,
  /** A client of graphql-ws connects again, with a new token if it has one. */
  forbidden: CloseCode.Forbidden,
  tooMany: CloseCode.TooManyInitialisationRequests,
} as const;

/** A close frame holds 123 bytes; a character cut in two becomes one of three bytes. */
const MAX_REASON_BYTES = 120;

export class LiveConnection implements QueueBudget {
  readonly arrival: LiveArrival;
  /** Set by `connection_init`. */
  caller: LiveCaller | undefined;
  /** The id of the credential, e.g. of the session. the session. */
  credentialId: string | undefined;
  /** `domain/user`. */
  principal: string | undefined;
  eventsSent = 0;
  /** Why this side closed it; `undefined`: it did not. */
  closeReason: string | undefined;
  readonly #socket: LiveSocket;
  readonly #maxWaitingBytes: number;
  readonly #queues = new Set<EventQueue>();
  #waitingBytes = 0;
  #isOpen = true;

  constructor(socket: LiveSocket, arrival: LiveArrival, maxWaitingBytes: number) {
    this.#socket = socket;
    this.arrival = arrival;
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

  /** Ends a connection that leaves more unread than may wait for it. */
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

  /** The socket is closed, whoever did it. */
  ended(): void {
    this.#isOpen = false;
    for (const queue of [...this.#queues]) void queue.return();
  }
}
