/** More than a person has under way; one that is never asked again is forgotten behind so many others. */
const MOST_KEPT = 50;

/** The memory of a page, or of the tab that shows it, where a reload finds it again. */
export type WritePlace = 'page' | 'tab';

/** What outlives a reload: `sessionStorage`. */
interface Tab {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const PREFIX = 'campus-unanswered:';

/**
 * The ids of writes, each kept until its answer has come. Where an answer was lost, nobody knows whether the
 * write was done: asked once more it goes by the same id, and the gateway does it once. @see decisions 4
 */
export class UnansweredWrites {
  readonly #ids = new Map<string, string>();
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /**
   * The id of a request by what it asks for: that of the one that was not answered, else a new one. What is
   * asked for is kept beside it: nothing secret may be kept in the tab.
   */
  idOf(asked: string, keptIn: WritePlace = 'page'): string {
    const id = this.#ids.get(asked) ?? this.#tab.getItem(PREFIX + asked) ?? newId();
    if (keptIn === 'tab') this.#tab.setItem(PREFIX + asked, id);
    this.#ids.set(asked, id);
    const [oldest] = this.#ids.keys();
    if (this.#ids.size > MOST_KEPT && oldest !== undefined) this.#ids.delete(oldest);
    return id;
  }

  /** It was done, or refused: asked once more, it is another one. */
  forget(asked: string): void {
    this.#ids.delete(asked);
    this.#tab.removeItem(PREFIX + asked);
  }
}

/** As `crypto.randomUUID`, which pages have by HTTPS alone. */
function newId(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
