import { useCallback, useState } from 'react';
import type { Viewer } from '../shell/viewer';
import type { DeclaredField } from './declared-field';

/** The changed and unsaved fields of a record; `null` removes a value. */
export type Draft = Readonly<Record<string, unknown>>;

const PREFIX = 'campus-draft:';

/** The key of the draft of a record, which the grid and the page of the record share. */
export function draftKey({ domain, id }: Viewer, collection: string, recordId: string): string {
  return `${domain.id}:${id}:${collection}:${recordId}`;
}

/**
 * Returns the ids of the records of a collection with a draft; `new` for a record that does not exist yet.
 */
export function findDrafts(viewer: Viewer, collection: string): readonly string[] {
  const start = PREFIX + draftKey(viewer, collection, '');
  return Object.keys(sessionStorage)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length));
}

/**
 * Stores unsaved input in this tab until it is saved or discarded; it survives a reload and the end of the
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

/** A text that exceeds the storage of the tab is only kept by the page. */
function keepInTab(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    sessionStorage.removeItem(key);
  }
}

/**
 * Returns the draft to send: texts without leading and trailing white space, which pasted texts often have. A
 * text of white space alone is no value.
 */
export function tidied(draft: Draft): Draft {
  return Object.fromEntries(
    Object.entries(draft).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.trim() || null : value,
    ]),
  );
}

/** Returns the draft with a changed field; without the field if it has its stored value again. */
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
