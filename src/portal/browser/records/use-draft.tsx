import { Alert, Group } from '@mantine/core';
import { useCallback, useEffect, useState } from 'react';
import { useViewer, type Viewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { TextLink } from '../shell/text-button';
import { useNamesOfRecords } from '../shell/use-record-labels';
import type { DeclaredField } from './use-declared-collection';

/** The changed and unsaved fields of a record; `null` removes a value. */
export type Draft = Readonly<Record<string, unknown>>;

const PREFIX = 'campus-draft:';

/** The key of the draft of a record, which the grid and the page of the record share. */
export function draftKey({ domain, id }: Viewer, collection: string, recordId: string): string {
  return `${domain.id}:${id}:${collection}:${recordId}`;
}

/** The key of the draft of a script, by its name. */
export function scriptDraftKey(domainId: string, script: string): string {
  return `script:${domainId}:${script}`;
}

/**
 * Returns the ids of the records of a collection with a draft; `new` for a record that does not exist yet.
 */
function findDrafts(viewer: Viewer, collection: string): readonly string[] {
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
 * text of only white space counts as missing.
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

const BASE_PREFIX = 'campus-draft-base:';

/**
 * Stores the version that a draft is based on, in the tab like the draft itself. A save that replaces only
 * this version cannot overwrite a change by somebody else that the user has not seen, even if the page has
 * read it since.
 *
 * The second value forgets the version; the draft is then based on the current one.
 */
export function useDraftBase<Base>(
  key: string,
  { isBegun, now }: { readonly isBegun: boolean; readonly now: Base },
): readonly [Base, () => void] {
  const [kept, setKept] = useState<Base | undefined>(() => {
    const text = sessionStorage.getItem(BASE_PREFIX + key);
    return text === null ? undefined : JSON.parse(text);
  });
  const forget = () => {
    sessionStorage.removeItem(BASE_PREFIX + key);
    setKept(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current value counts when the draft begins.
  useEffect(() => {
    if (!isBegun) forget();
    else if (kept === undefined && now !== undefined) {
      sessionStorage.setItem(BASE_PREFIX + key, JSON.stringify(now));
      setKept(now);
    }
  }, [isBegun, key]);
  return [(isBegun ? kept : undefined) ?? now, forget];
}

const MOST_NAMED = 5;

/** Links to unsaved changes in this tab, e.g. from before a reload. */
export function UnsavedRecords({ collection }: { readonly collection: string }) {
  const ids = findDrafts(useViewer(), collection);
  const nameOf = useNamesOfRecords(ids.map((recordId) => ({ collection, recordId })));
  if (ids.length === 0) return null;
  return (
    <Alert variant="light" p="xs" mb="sm" color="yellow">
      <Group gap="xs">
        {t('{count, plural, one {# record has} other {# records have}} changes that are not saved:', {
          count: ids.length,
        })}
        {ids.slice(0, MOST_NAMED).map((id) => (
          <TextLink key={id} to={`/portal/records/${collection}/${encodeURIComponent(id)}`}>
            {id === 'new' ? t('New record') : nameOf({ collection, recordId: id })}
          </TextLink>
        ))}
      </Group>
    </Alert>
  );
}
