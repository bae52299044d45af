/**
 * A set of values in progress. Each has a slot until it is removed, which the next one fills.
 *
 * A `Set` builds a new table after as many removals as it has places. A table in V8's old generation keeps
 * later ones alive, with their values, until the next full collection: a tenth of the memory of a request
 * would be copied and kept for seconds.
 */
export class Slots<Value> {
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** Returns the slot. */
  add(value: Value): number {
    const slot = this.#free.pop() ?? this.#values.length;
    this.#values[slot] = value;
    return slot;
  }

  /** Returns false if the value was taken out before; its slot may hold another one. */
  remove(slot: number, value: Value): boolean {
    if (this.#values[slot] !== value) return false;
    this.#values[slot] = undefined;
    this.#free.push(slot);
    return true;
  }

  *[Symbol.iterator](): IterableIterator<Value> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }
}
