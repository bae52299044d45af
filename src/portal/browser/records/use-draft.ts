import { useCallback, useState } from 'react';
import type { Viewer } from '../shell/viewer';
import type { DeclaredField } from './declared-field';

/** Changed fields of a record that are not saved yet; `null` takes a value away. */
export type Draft = Readonly<Record<string, unknown>>;

const PREFIX = 'campus-draft:';

/** What is changed of a record in the grid and on its own page is one draft. */
export function draftKey({ domain, id }: Viewer, collection: string, recordId: string): string {
  return `${domain.id}:${id}:${collection}:${recordId}`;
}

/** The ids of the records of a collection that have one, `new` for one that is not made yet. */
export function findDrafts(viewer: Viewer, collection: string): readonly string[] {
  const start = PREFIX + draftKey(viewer, collection, '');
  return Object.keys(sessionStorage)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length));
}

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
      else keepInTab(PREFIX + key, JSON.stringify(next));
    },
    [key],
  );
  return [draft, keep];
}

/** What is longer than a tab may keep is only held by the page. */
function keepInTab(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    sessionStorage.removeItem(key);
  }
}

/**
 * The draft as it is sent: texts without the blanks and line ends around them, which come with what is
 * pasted. Blanks alone are no value.
 */
export function tidied(draft: Draft): Draft {
  return Object.fromEntries(
    Object.entries(draft).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() || null : value,
    ]),
  );
}

/** The draft without the field where it is again as it is stored. */
export function withChange(
  draft: Draft,
  {
    field,
    value,
    stored,
  }: { readonly field: DeclaredField; readonly value: unknown; readonly stored: Draft },
): Draft {
  const { [field.name]: _before, ...others } = draft;
  return isSame(value, stored[field.name]) ? others : { ...others, [field.name]: value };
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
