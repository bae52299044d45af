/**
 * Limits the total bytes of large request bodies in memory at the same time, from their arrival until their
 * requests are answered. Otherwise many large bodies at once could exhaust the memory of the process. A body
 * reserves room for what has arrived of it, not for what it announces: bytes that never come take no room.
 * Without room, a body waits half read, and is refused after a while. One caller may use half of the room,
 * and a quarter is kept for callers that use none, so that a few callers do not lock out all others.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../../base/errors.js';

export interface BodyRoomOptions {
  readonly bytes: number;
  /** How long a body may wait for room. */
  readonly waitMs: number;
}

/** The room of one body. */
export interface BodyShare {
  /**
   * Waits until so many bytes of the body are reserved in total.
   *
   * @throws UNAVAILABLE (503) when there is no room in time, or `signal` aborts
   */
  reserve(bytes: number, signal: AbortSignal): Promise<void>;
  /** Releases all of it; may be called repeatedly. */
  leave(): void;
}

interface Body {
  readonly caller: string;
  bytes: number;
  hasLeft: boolean;
}

interface WaitingBody {
  readonly body: Body;
  readonly more: number;
  readonly enter: () => void;
}

/** The share of the room that one caller may use. */
const SHARED_PART = 1 / 2;
/** The share that is left to callers that use no room. */
const KEPT_PART = 1 / 4;

export class BodyRoom {
  readonly #options: BodyRoomOptions;
  readonly #bytesByCaller = new Map<string, number>();
  readonly #waiting = new Set<WaitingBody>();
  #bytes = 0;

  constructor(options: BodyRoomOptions) {
    this.#options = options;
  }

  /**
   * A body of this caller, which has no room yet. A body larger than the whole room is admitted when nothing
   * else is there, and one larger than a caller's share when the caller has no other.
   */
  open(caller: string): BodyShare {
    const body = { caller, bytes: 0, hasLeft: false };
    return {
      reserve: (bytes, signal) => this.#reserve(body, bytes - body.bytes, signal),
      leave: () => {
        body.hasLeft = true;
        this.#add(body, -body.bytes);
        this.#letIn();
      },
    };
  }

  async #reserve(body: Body, more: number, signal: AbortSignal): Promise<void> {
    if (more <= 0) return;
    if (this.#waiting.size === 0 && this.#hasRoom(body, more)) {
      this.#add(body, more);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(waiting);
      };
      const enter = () => {
        settle();
        this.#add(body, more);
        resolve();
      };
      const giveUp = () => {
        settle();
        reject(noRoom());
      };
      const waiting: WaitingBody = { body, more, enter };
      const timer = setTimeout(giveUp, this.#options.waitMs);
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
      // Those before it may be waiting only for their own caller's share.
      this.#letIn();
      if (signal.aborted) giveUp();
    });
  }

  #hasRoom({ caller, bytes, hasLeft }: Body, more: number): boolean {
    if (hasLeft) return false;
    const room = this.#options.bytes;
    const ofOwnOthers = (this.#bytesByCaller.get(caller) ?? 0) - bytes;
    if (ofOwnOthers > 0 && ofOwnOthers + bytes + more > room * SHARED_PART) return false;
    if (this.#bytes === bytes) return true;
    return this.#bytes + more <= (ofOwnOthers > 0 ? room * (1 - KEPT_PART) : room);
  }

  #add(body: Body, bytes: number): void {
    body.bytes += bytes;
    this.#bytes += bytes;
    const ofCaller = (this.#bytesByCaller.get(body.caller) ?? 0) + bytes;
    if (ofCaller === 0) this.#bytesByCaller.delete(body.caller);
    else this.#bytesByCaller.set(body.caller, ofCaller);
  }

  #letIn(): void {
    for (const { body, more, enter } of [...this.#waiting]) {
      if (this.#hasRoom(body, more)) enter();
    }
  }
}

function noRoom(): ServiceError {
  return new ServiceError(
    'UNAVAILABLE',
    'Too many large bodies are being read at the same time (BODY_ROOM_BYTES); send them one after the other.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
