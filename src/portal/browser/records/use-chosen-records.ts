import { useState } from 'react';

/** What is to be changed or removed together. */
export interface ChosenRecords {
  /** Those that were chosen one by one. */
  readonly ids: ReadonlySet<string>;
  /** All that the filter leaves, read or not. */
  readonly isAll: boolean;
  choose(ids: readonly string[], how: 'add' | 'takeOut'): void;
  chooseAll(): void;
  chooseNone(): void;
}

const NONE = { ids: new Set<string>(), isAll: false };

/** Where another filter is asked, nothing is chosen: what is out of sight would be changed unseen. */
export function useChosenRecords(filterKey: string): ChosenRecords {
  const [kept, keep] = useState({ filterKey, ...NONE });
  const { ids, isAll } = kept.filterKey === filterKey ? kept : NONE;
  return {
    ids,
    isAll,
    choose(named, how) {
      const next = new Set(ids);
      for (const id of named) {
        if (how === 'add') next.add(id);
        else next.delete(id);
      }
      keep({ filterKey, ids: next, isAll: false });
    },
    chooseAll: () => keep({ filterKey, ids, isAll: true }),
    chooseNone: () => keep({ filterKey, ...NONE }),
  };
}
