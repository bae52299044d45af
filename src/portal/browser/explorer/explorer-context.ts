import type { ExecutionResult } from 'graphql';
import { createContext, useContext } from 'react';
import type { ExampleOperation } from '../../../explore/example-operation';
import type { RunOperation } from '../../../explore/paged-list';
import type { LoginSession, SessionUser } from '../session/login-session';

export type ResultView = 'table' | 'chart' | 'json';

/**
 * What the panels within GraphiQL, which takes components without properties, need of the page around it.
 */
export interface ExplorerState {
  readonly session: LoginSession;
  readonly user: SessionUser;
  readonly timeZone: string;
  /** `YYYY-MM-DD` in the time zone of the school. */
  readonly today: string;
  readonly examples: readonly ExampleOperation[];
  readonly view: ResultView;
  setView(view: ResultView): void;
  /** Runs a query beside what the editor shows, with the token of the session. */
  query(operation: RunOperation): Promise<ExecutionResult>;
}

export const ExplorerContext = createContext<ExplorerState | undefined>(undefined);

export function useExplorerContext(): ExplorerState {
  const explorer = useContext(ExplorerContext);
  if (!explorer) throw new Error('A panel of the explorer was rendered outside of it');
  return explorer;
}
