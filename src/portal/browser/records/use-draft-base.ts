import { useEffect, useState } from 'react';

const PREFIX = 'campus-draft-base:';

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
    const text = sessionStorage.getItem(PREFIX + key);
    return text === null ? undefined : JSON.parse(text);
  });
  const forget = () => {
    sessionStorage.removeItem(PREFIX + key);
    setKept(undefined);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is there now counts once it is begun.
  useEffect(() => {
    if (!isBegun) forget();
    else if (kept === undefined && now !== undefined) {
      sessionStorage.setItem(PREFIX + key, JSON.stringify(now));
      setKept(now);
    }
  }, [isBegun, key]);
  return [(isBegun ? kept : undefined) ?? now, forget];
}
