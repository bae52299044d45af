import { useState } from 'react';
import { useDraft } from './use-draft';

/** The records to change or remove together. */
export interface ChosenRecords {
  /** The records selected one by one. */
  readonly ids: ReadonlySet<string>;
  /** Whether all records that match the filter are selected, loaded or not. */
  readonly isAll: boolean;
  choose(ids: readonly string[], how: 'add' | 'takeOut'): void;
  chooseAll(): void;
  chooseNone(): void;
  /** Whether this selection was stored before a reload. */
  readonly isKept: boolean;
  /** Stores the selection, so that unsaved input about it survives a reload. */
  keep(): void;
  keepNoLonger(): void;
}

const NONE = { ids: new Set<string>(), isAll: false };

interface Choice extends Pick<ChosenRecords, 'ids' | 'isAll'> {
  readonly filterKey: string;
}

/** Another filter clears the selection; otherwise, records that are no longer visible would be changed. */
export function useChosenRecords(filterKey: string, draftKey: string): ChosenRecords {
  const [draft, keepDraft] = useDraft(draftKey);
  const isKept = draft.filterKey === filterKey;
  const [made, make] = useState<Choice>(() =>
    isKept
      ? { filterKey, ids: new Set(draft.ids as readonly string[]), isAll: draft.isAll === true }
      : { filterKey, ...NONE },
  );
  const { ids, isAll } = made.filterKey === filterKey ? made : NONE;
  return {
    ids,
    isAll,
    choose(named, how) {
      const next = new Set(ids);
      for (const id of named) {
        if (how === 'add') next.add(id);
        else next.delete(id);
      }
      make({ filterKey, ids: next, isAll: false });
    },
    chooseAll: () => make({ filterKey, ids, isAll: true }),
    chooseNone: () => make({ filterKey, ...NONE }),
    isKept,
    keep: () => keepDraft({ filterKey, ids: [...ids], isAll }),
    keepNoLonger: () => keepDraft({}),
  };
}
