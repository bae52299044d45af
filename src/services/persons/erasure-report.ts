/** The effect of an erasure in each place, or in a dry run the expected effect. */

export type Fate = 'removed' | 'replaced' | 'kept';

export interface ErasureEntry {
  /** `removed`: deleted for good; `replaced`: a name or reference in it; `kept`: without personal values. */
  readonly fate: Fate;
  /** A collection, or another place: `messages`, `files`, `history`, `sessions`, … */
  readonly place: string;
  readonly count: number;
  /** The ids of the first records, or something else that identifies them. */
  readonly ids: readonly string[];
  /** The fields that a kept record loses. */
  readonly fields: readonly string[];
  /** Why it is not removed, or what remains to be done by hand. */
  readonly because: string | undefined;
}

/** For more records than this, the report gives only their number. */
const MOST_IDS = 1_000;

export class ErasureReport {
  readonly #entries: ErasureEntry[] = [];

  get entries(): readonly ErasureEntry[] {
    return this.#entries;
  }

  /** Adds nothing for a count of zero. */
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
