import { useMatch, useNavigate, useRouter } from '@tanstack/react-router';
import { useCallback, useMemo, useSyncExternalStore } from 'react';

/**
 * Keeps the state of a page in the query of its address, so that the address can be shared and the Back
 * button restores it. Empty and default values are left out.
 *
 * The state is read from the address itself. The router shows a new address only when its page is ready,
 * so the next action of a quick user would see the state of before. While another page is being opened,
 * the state of this one stays as it is.
 */
export function useAddress<State extends Readonly<Record<string, string>>>(
  defaults: State,
): readonly [State, (changes: Partial<State>, how?: 'push' | 'replace') => void] {
  const { history } = useRouter();
  const navigate = useNavigate();
  const shown = useMatch({ strict: false });
  const pathname = decodeURI(shown.pathname);
  const isOpen = useCallback(() => decodeURI(history.location.pathname) === pathname, [history, pathname]);
  const query = useSyncExternalStore(history.subscribe, () =>
    isOpen() ? history.location.search : undefined,
  );
  const search: Readonly<Record<string, string | undefined>> = useMemo(
    () => (query === undefined ? shown.search : Object.fromEntries(new URLSearchParams(query))),
    [query, shown.search],
  );
  const state = Object.fromEntries(
    Object.entries(defaults).map(([name, byDefault]) => [name, search[name] ?? byDefault]),
  ) as State;
  const change = useCallback(
    (changes: Partial<State>, how: 'push' | 'replace' = 'push') => {
      if (!isOpen()) return;
      void navigate({
        to: '.',
        search: ((before: Readonly<Record<string, string>>) => ({ ...before, ...changes })) as never,
        replace: how === 'replace',
        resetScroll: false,
      });
    },
    [navigate, isOpen],
  );
  return [state, change];
}

/** Whether a filter in the address restricts anything; '' stands for no restriction. */
export function isFiltering(filter: Readonly<Record<string, string>>): boolean {
  return Object.values(filter).some((value) => value !== '');
}
