/**
 * Limits the memory of answers that their readers do not take. A complete answer stays in memory until the
 * operating system has taken it. A reader that takes nothing for a while is cut off. If the readers of an
 * address, or all readers together, leave too much unread, the oldest answers are cut off.
 */
import type { ServerResponse } from 'node:http';
import { resetConnection } from '../../../base/http/text-answer.js';

export interface UnreadAnswersOptions {
  /** How long a reader may take nothing. */
  readonly stallMs: number;
  /** The most bytes that the readers of one address may leave unread. */
  readonly bytesOfAddress: number;
  /** The most bytes that all readers together may leave unread. */
  readonly bytesOfAll: number;
  readonly onCut: (requestId: string, reason: string) => void;
}

interface UnreadAnswer {
  readonly response: ServerResponse;
  readonly address: string;
  readonly requestId: string;
}

export class UnreadAnswers {
  readonly #options: UnreadAnswersOptions;
  /** Oldest first. */
  readonly #answers = new Set<UnreadAnswer>();

  constructor(options: UnreadAnswersOptions) {
    this.#options = options;
  }

  /** Call it when the whole answer has been written. */
  written(answer: UnreadAnswer): void {
    // Most answers are taken in the same turn of the event loop.
    setImmediate(() => {
      const { response } = answer;
      if (response.writableFinished || response.destroyed) return;
      const { stallMs, bytesOfAddress, bytesOfAll } = this.#options;
      this.#answers.add(answer);
      response.once('close', () => this.#answers.delete(answer));
      response.setTimeout(stallMs, () => this.#cut(answer, `nothing was read for ${stallMs} ms`));
      this.#keepWithin(bytesOfAddress, ({ address }) => address === answer.address);
      this.#keepWithin(bytesOfAll, () => true);
    });
  }

  #keepWithin(bytes: number, isCounted: (answer: UnreadAnswer) => boolean): void {
    const counted = [...this.#answers].filter(isCounted);
    let unread = counted.reduce((sum, { response }) => sum + unreadBytes(response), 0);
    for (const answer of counted) {
      if (unread <= bytes) return;
      unread -= unreadBytes(answer.response);
      this.#cut(answer, `too many bytes of answers are unread (${bytes} allowed)`);
    }
  }

  #cut(answer: UnreadAnswer, reason: string): void {
    if (!this.#answers.delete(answer)) return;
    this.#options.onCut(answer.requestId, reason);
    resetConnection(answer.response);
  }
}

function unreadBytes({ socket }: ServerResponse): number {
  return socket?.writableLength ?? 0;
}
