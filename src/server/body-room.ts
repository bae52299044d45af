/**
 * Bounds the bytes of the large request bodies that are in memory at the same time, from before a body is
 * read until its request is answered: who sends many of them at once would otherwise have the process end for
 * want of memory. What has no room waits, unread, in the order in which it came, and is refused when that
 * takes too long. One caller has half of the room, so that a slow sender of large bodies does not keep all
 * others out.
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

/** The part of the room that one caller has. */
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
   * Waits for room for a body, and gives what leaves it again, which may be called more than once. A body
   * that is larger than the room has it when nothing else is there, and one that is larger than the part of
   * one caller when this caller has no other.
   *
   * @throws UNAVAILABLE (503) when there is no room in time, or `signal` is aborted meanwhile
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
      // Who came before may wait for the part of one caller alone.
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
