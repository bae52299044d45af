import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/**
 * The state of a page that stands in its address after `?`, so that the address can be sent to somebody and
 * the way back leads to it. What is empty or as it is by default is left out.
 */
export function useAddress<State extends Readonly<Record<string, string>>>(
  defaults: State,
): readonly [State, (changes: Partial<State>, how?: 'push' | 'replace') => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>;
  const navigate = useNavigate();
  const state = Object.fromEntries(
    Object.entries(defaults).map(([name, byDefault]) => [name, search[name] ?? byDefault]),
  ) as State;
  const change = useCallback(
    (changes: Partial<State>, how: 'push' | 'replace' = 'push') =>
      void navigate({
        to: '.',
        search: ((before: Readonly<Record<string, string>>) => ({ ...before, ...changes })) as never,
        replace: how === 'replace',
        resetScroll: false,
      }),
    [navigate],
  );
  return [state, change];
}

/** Whether a filter that stands in the address, '' for what is not asked, asks for anything. */
export function isFiltering(filter: Readonly<Record<string, string>>): boolean {
  return Object.values(filter).some((value) => value !== '');
}
