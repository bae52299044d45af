import { useCallback, useState } from 'react';

/** Changed fields of a record that are not saved yet; `null` takes a value away. */
export type Draft = Readonly<Record<string, unknown>>;

const PREFIX = 'campus-draft:';

/**
 * Unsaved input, kept in this tab until it is saved or discarded: it outlives a reload and the end of a
 * session.
 */
export function useDraft(key: string): readonly [Draft, (draft: Draft) => void] {
  const [draft, setDraft] = useState<Draft>(() => JSON.parse(sessionStorage.getItem(PREFIX + key) ?? '{}'));
  const keep = useCallback(
    (next: Draft) => {
      setDraft(next);
      if (Object.keys(next).length === 0) sessionStorage.removeItem(PREFIX + key);
      else sessionStorage.setItem(PREFIX + key, JSON.stringify(next));
    },
    [key],
  );
  return [draft, keep];
}
