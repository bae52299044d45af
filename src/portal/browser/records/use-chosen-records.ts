import { useState } from 'react';
import { useDraft } from './use-draft';

/** What is to be changed or removed together. */
export interface ChosenRecords {
  /** Those that were chosen one by one. */
  readonly ids: ReadonlySet<string>;
  /** All that the filter leaves, read or not. */
  readonly isAll: boolean;
  choose(ids: readonly string[], how: 'add' | 'takeOut'): void;
  chooseAll(): void;
  chooseNone(): void;
  /** Whether this choice was kept when the page was left. */
  readonly isKept: boolean;
  /** Keeps it over a reload, for as long as something that was written is to be done with it. */
  keep(): void;
  keepNoLonger(): void;
}

const NONE = { ids: new Set<string>(), isAll: false };

interface Choice extends Pick<ChosenRecords, 'ids' | 'isAll'> {
  readonly filterKey: string;
}

/** Where another filter is asked, nothing is chosen: what is out of sight would be changed unseen. */
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
