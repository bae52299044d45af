/** What an erasure does, or would do, place by place. */

export type Fate = 'removed' | 'replaced' | 'kept';

export interface ErasureEntry {
  /** `removed` for good; `replaced`: a name or reference in it; `kept` without what is personal. */
  readonly fate: Fate;
  /** A collection, or what else there is: `messages`, `files`, `history`, `sessions`, … */
  readonly place: string;
  readonly count: number;
  /** The ids of the first records, or what else tells which ones are meant. */
  readonly ids: readonly string[];
  /** The fields that a kept record loses. */
  readonly fields: readonly string[];
  /** Why it is not removed, or what is left to do by hand. */
  readonly because: string | undefined;
}

/** Of more than so many, the count alone is told. */
const MOST_IDS = 1_000;

export class ErasureReport {
  readonly #entries: ErasureEntry[] = [];

  get entries(): readonly ErasureEntry[] {
    return this.#entries;
  }

  /** Nothing is added for none. */
  add(
    fate: Fate,
    place: string,
    ids: readonly string[],
    more: { readonly fields?: readonly string[]; readonly because?: string | undefined } = {},
  ): void {
    if (ids.length === 0) return;
    const { fields = [], because } = more;
    this.#entries.push({
      ...{ fate, place, count: ids.length, ids: ids.slice(0, MOST_IDS) },
      ...{ fields, because },
    });
  }
}
