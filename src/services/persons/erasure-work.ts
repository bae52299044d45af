/** The input of each step of an erasure. */

import { z } from 'zod';
import type { Scope } from '../../base/model/scope.js';
import type { Catalog } from '../../store/catalog/catalog.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { PersonIdentity } from './identity.js';

export interface ErasureWork {
  readonly transaction: Transaction;
  readonly scope: Scope;
  readonly catalog: Catalog;
  readonly identity: PersonIdentity;
  readonly report: ErasureReport;
  /** The imports whose files name the person or cannot be read. */
  readonly importsNaming: readonly string[];
  /** @see Database.announcesByOutbox */
  readonly isToOutbox: boolean;
}

/** The effect of an erasure in each place, or in a dry run the expected effect. */

type Fate = 'removed' | 'replaced' | 'kept';

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

/** A completed erasure, which does not name the person. */
export const DoneErasure = z.object({
  domain: z.string(),
  collection: z.string(),
  /** SHA-256 of the collection and the `_id`. */
  person: z.string().regex(/^[0-9a-f]{64}$/),
  pseudonym: z.string().regex(/^erased-[0-9a-f]{8}$/),
  at: z.string(),
});
export type DoneErasure = z.output<typeof DoneErasure>;
