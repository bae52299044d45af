/** Reports which values of the documents of a collection could not be kept as they were. */
import type { Alteration } from '../documents/plain-document.js';
import type { SourceRow } from '../reading/row-source.js';

/** The alterations of one kind, in all documents together. */
interface CountedAlteration extends Alteration {
  readonly count: number;
  /** The ids of the first documents that have it. */
  readonly firstIds: readonly string[];
}

export interface CollectionReport {
  readonly documents: number;
  readonly alterations: readonly CountedAlteration[];
  /** Alterations of kinds that are not listed, because there are too many kinds. */
  readonly unlistedAlterations: number;
  readonly faults: {
    readonly count: number;
    readonly samples: readonly { readonly number: number; readonly fault: string }[];
  };
}

const MAX_IDS = 5;
const MAX_FAULTS = 20;
/** The limit matters for documents whose member names are data: each name is a kind of its own. */
const MAX_KINDS = 1_000;

interface Counted extends Alteration {
  count: number;
  readonly firstIds: string[];
}

/** Takes the rows of a collection; its memory does not grow with them. */
export class CollectionReporter {
  #documents = 0;
  #faults = 0;
  #unlisted = 0;
  readonly #samples: { readonly number: number; readonly fault: string }[] = [];
  readonly #countedByKind = new Map<string, Counted>();

  add({ number, values, fault, alterations }: SourceRow): void {
    this.#documents += 1;
    if (fault !== undefined) {
      this.#faults += 1;
      if (this.#samples.length < MAX_FAULTS) this.#samples.push({ number, fault });
    }
    if (alterations === undefined) return;
    const id = typeof values._id === 'string' ? values._id : `document ${number}`;
    for (const alteration of alterations) this.#count(alteration, id);
  }

  finish(): CollectionReport {
    return {
      documents: this.#documents,
      alterations: [...this.#countedByKind.values()],
      unlistedAlterations: this.#unlisted,
      faults: { count: this.#faults, samples: this.#samples },
    };
  }

  #count(alteration: Alteration, id: string): void {
    const kind = JSON.stringify(Object.values(alteration));
    let counted = this.#countedByKind.get(kind);
    if (counted === undefined) {
      if (this.#countedByKind.size === MAX_KINDS) {
        this.#unlisted += 1;
        return;
      }
      counted = { ...alteration, count: 0, firstIds: [] };
      this.#countedByKind.set(kind, counted);
    }
    counted.count += 1;
    if (counted.firstIds.length < MAX_IDS && counted.firstIds.at(-1) !== id) counted.firstIds.push(id);
  }
}
