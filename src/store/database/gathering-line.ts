/**
 * Those who ask at the same moment for what one statement can do for all of them. Whoever comes alone does
 * not wait; while statements are under way, those who come gather for the next.
 */
export interface GatheringLineOptions<Asker> {
  /** Takes those out of the line whom the next statement serves: one at least. */
  readonly takeNext: (waiting: Asker[]) => readonly Asker[];
  /** Answers each of them, also where it fails: it never throws. */
  readonly serve: (served: readonly Asker[]) => Promise<void>;
  /** Nobody stands in the line any more: it can be forgotten. */
  readonly onEmpty: () => void;
}

/** With two, one is prepared and sent while the other is at work in PostgreSQL. */
const MOST_UNDER_WAY = 2;

export class GatheringLine<Asker> {
  readonly #options: GatheringLineOptions<Asker>;
  readonly #waiting: Asker[] = [];
  #underWay = 0;
  /** It is served at the end of this turn. */
  #isCalled = false;

  constructor(options: GatheringLineOptions<Asker>) {
    this.#options = options;
  }

  join(asker: Asker): void {
    this.#waiting.push(asker);
    this.#call();
  }

  /** At the end of the turn of the event loop, when all that came with it are here. */
  #call(): void {
    if (this.#isCalled || this.#underWay >= MOST_UNDER_WAY) return;
    this.#isCalled = true;
    setImmediate(() => {
      this.#isCalled = false;
      void this.#serveNext();
    });
  }

  async #serveNext(): Promise<void> {
    const served = this.#options.takeNext(this.#waiting);
    if (served.length === 0) return;
    this.#underWay += 1;
    this.#callRest();
    await this.#options.serve(served);
    this.#underWay -= 1;
    this.#callRest();
  }

  #callRest(): void {
    if (this.#waiting.length > 0) this.#call();
    else if (this.#underWay === 0 && !this.#isCalled) this.#options.onEmpty();
  }
}
