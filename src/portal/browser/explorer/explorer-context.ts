import type { ExecutionResult } from 'graphql';
import { createContext } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import type { RunOperation } from '../../explore/paged-list';
import { usePresent } from '../gateway/use-gateway';

export type ResultView = 'table' | 'chart' | 'json' | 'code';

/** The state of the page for the panels within GraphiQL, which accepts only components without properties. */
export interface ExplorerState {
  readonly examples: readonly ExampleOperation[];
  readonly view: ResultView;
  setView(view: ResultView): void;
  /** Runs a query apart from the editor, with the token of the session. */
  query(operation: RunOperation): Promise<ExecutionResult>;
}

export const ExplorerContext = createContext<ExplorerState | undefined>(undefined);

export const useExplorerContext = () => usePresent(ExplorerContext);

/**
 * Whether the window is as narrow as a phone, according to the styles. Three panels beside each other need
 * more room.
 */
export function isPhone(): boolean {
  return matchMedia('(max-width: 62em)').matches;
}

/** The widths of the panels until the user drags them: library to the rest, operation to result. */
const FIRST_WIDTHS: Readonly<Record<string, string>> = {
  'graphiql:docExplorerFlex': '0.3',
  'graphiql:editorFlex': '1.1',
};

/**
 * Stores the tabs and history of GraphiQL in this browser, separately for each user, because users may share
 * a browser. They share the theme.
 */
const SHARED = 'graphiql:theme';

export function createUserStorage(domain: string, userId: string) {
  const prefix = `campus-explore:${domain}:${userId}:`;
  const keyOf = (key: string) => (key === SHARED ? key : prefix + key);
  const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  return {
    getItem: (key: string) => localStorage.getItem(keyOf(key)) ?? FIRST_WIDTHS[key] ?? null,
    setItem: (key: string, value: string) => localStorage.setItem(keyOf(key), value),
    removeItem: (key: string) => localStorage.removeItem(keyOf(key)),
    clear: () => {
      for (const key of keys()) localStorage.removeItem(key);
    },
    get length() {
      return keys().length;
    },
  };
}
