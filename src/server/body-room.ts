/**
 * Limits the total bytes of large request bodies in memory at the same time, from before a body is read until
 * its request is answered. Otherwise many large bodies at once could exhaust the memory of the process. A
 * body without room waits unread, in order of arrival, and is refused after a while. One caller may use half
 * of the room, so that a slow sender of large bodies does not lock out all others.
 */
import { RETRY_AFTER_SECONDS, ServiceError } from '../errors.js';

export interface BodyRoomOptions {
  readonly bytes: number;
  /** How long a body may wait for room. */
  readonly waitMs: number;
}

interface WaitingBody {
  readonly caller: string;
  readonly bytes: number;
  readonly enter: () => void;
}

/** The share of the room that one caller may use. */
const SHARED_PART = 1 / 2;

export class BodyRoom {
  readonly #options: BodyRoomOptions;
  readonly #bytesByCaller = new Map<string, number>();
  readonly #waiting = new Set<WaitingBody>();
  #bytes = 0;

  constructor(options: BodyRoomOptions) {
    this.#options = options;
  }

  /**
   * Waits for room for a body and returns the function that releases it, which may be called repeatedly. A
   * body larger than the whole room is admitted when nothing else is there, and one larger than a caller's
   * share when the caller has no other.
   *
   * @throws UNAVAILABLE (503) when there is no room in time, or `signal` aborts
   */
  async enter(caller: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    if (this.#waiting.size === 0 && this.#hasRoom(caller, bytes)) return this.#take(caller, bytes);
    return await new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(body);
      };
      const body: WaitingBody = {
        caller,
        bytes,
        enter: () => {
          settle();
          resolve(this.#take(caller, bytes));
        },
      };
      const giveUp = () => {
        settle();
        reject(noRoom());
      };
      const timer = setTimeout(giveUp, this.#options.waitMs);
      this.#waiting.add(body);
      signal.addEventListener('abort', giveUp, { once: true });
      // Those before it may be waiting only for their own caller's share.
      this.#letIn();
      if (signal.aborted) giveUp();
    });
  }

  #hasRoom(caller: string, bytes: number): boolean {
    const own = this.#bytesByCaller.get(caller) ?? 0;
    if (own > 0 && own + bytes > this.#options.bytes * SHARED_PART) return false;
    return this.#bytes === 0 || this.#bytes + bytes <= this.#options.bytes;
  }

  #take(caller: string, bytes: number): () => void {
    this.#bytes += bytes;
    this.#bytesByCaller.set(caller, (this.#bytesByCaller.get(caller) ?? 0) + bytes);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#bytes -= bytes;
      const left = (this.#bytesByCaller.get(caller) ?? bytes) - bytes;
      if (left === 0) this.#bytesByCaller.delete(caller);
      else this.#bytesByCaller.set(caller, left);
      this.#letIn();
    };
  }

  #letIn(): void {
    for (const body of [...this.#waiting]) {
      if (this.#hasRoom(body.caller, body.bytes)) body.enter();
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
