import { useEffect, useState } from 'react';

const PREFIX = 'campus-draft-base:';

/**
 * What a draft was begun from, kept in the tab as the draft itself is. Saved over that and nothing newer, it
 * does not overwrite unseen what somebody else wrote meanwhile, also where the page has read it by then.
 *
 * The second part forgets it: the draft goes on from what is there now.
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
