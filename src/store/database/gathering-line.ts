/**
 * Batches simultaneous requests that one statement can serve. A single request does not wait; while
 * statements are running, new requests gather for the next one.
 */
export interface GatheringLineOptions<Asker> {
  /** Removes from the queue the requests that the next statement will serve, at least one. */
  readonly takeNext: (waiting: Asker[]) => readonly Asker[];
  /** Answers each of them, even on failure: it never throws. */
  readonly serve: (served: readonly Asker[]) => Promise<void>;
  /** Called when the queue is empty and can be forgotten. */
  readonly onEmpty: () => void;
}

/** With two, one is prepared and sent while PostgreSQL works on the other. */
const MOST_UNDER_WAY = 2;

export class GatheringLine<Asker> {
  readonly #options: GatheringLineOptions<Asker>;
  readonly #waiting: Asker[] = [];
  #underWay = 0;
  /** A call is scheduled for the end of this turn. */
  #isCalled = false;

  constructor(options: GatheringLineOptions<Asker>) {
    this.#options = options;
  }

  join(asker: Asker): void {
    this.#waiting.push(asker);
    this.#call();
  }

  /** Runs at the end of the turn of the event loop, when all requests of the turn have arrived. */
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
