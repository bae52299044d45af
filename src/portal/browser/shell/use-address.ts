import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/**
 * Keeps the state of a page in the query of its address, so that the address can be shared and the Back
 * button restores it. Empty and default values are left out.
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

/** Whether a filter in the address restricts anything; '' stands for no restriction. */
export function isFiltering(filter: Readonly<Record<string, string>>): boolean {
  return Object.values(filter).some((value) => value !== '');
}
