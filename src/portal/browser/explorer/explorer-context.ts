import type { ExecutionResult } from 'graphql';
import { createContext, useContext } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import type { RunOperation } from '../../explore/paged-list';
import type { LoginSession, SessionUser } from '../session/login-session';

export type ResultView = 'table' | 'chart' | 'json';

/** The state of the page for the panels within GraphiQL, which accepts only components without properties. */
export interface ExplorerState {
  readonly session: LoginSession;
  readonly user: SessionUser;
  readonly timeZone: string;
  /** `YYYY-MM-DD` in the time zone of the school. */
  readonly today: string;
  readonly examples: readonly ExampleOperation[];
  readonly view: ResultView;
  setView(view: ResultView): void;
  /** Runs a query apart from the editor, with the token of the session. */
  query(operation: RunOperation): Promise<ExecutionResult>;
}

export const ExplorerContext = createContext<ExplorerState | undefined>(undefined);

export function useExplorerContext(): ExplorerState {
  const explorer = useContext(ExplorerContext);
  if (!explorer) throw new Error('A panel of the explorer was rendered outside of it');
  return explorer;
}
