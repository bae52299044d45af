/** A person has fewer pending writes. Beyond this number, the oldest is forgotten. */
const MOST_KEPT = 50;

/** `page`: in the memory of the page. `tab`: in the storage of the tab, which survives a reload. */
export type WritePlace = 'page' | 'tab';

/** The storage that survives a reload: `sessionStorage`. */
interface Tab {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const PREFIX = 'campus-unanswered:';

/**
 * Keeps the id of each write until its answer arrives. If an answer is lost, nobody knows whether the write
 * took effect; a repetition is sent with the same id, and the gateway does it once. @see decisions 4
 */
export class UnansweredWrites {
  readonly #ids = new Map<string, string>();
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /**
   * Returns the id for a request: that of the same request if it was not answered, else a new one. The text
   * of the request is stored beside the id, so a request with a secret must not be kept in the tab.
   */
  idOf(asked: string, keptIn: WritePlace = 'page'): string {
    const id = this.#ids.get(asked) ?? this.#tab.getItem(PREFIX + asked) ?? newId();
    if (keptIn === 'tab') this.#tab.setItem(PREFIX + asked, id);
    this.#ids.set(asked, id);
    const [oldest] = this.#ids.keys();
    if (this.#ids.size > MOST_KEPT && oldest !== undefined) this.#ids.delete(oldest);
    return id;
  }

  /** Forgets a request that was answered; a repetition is a new request. */
  forget(asked: string): void {
    this.#ids.delete(asked);
    this.#tab.removeItem(PREFIX + asked);
  }
}

/** Like `crypto.randomUUID`, which is only available with HTTPS. */
function newId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
