/** The explorer of a user who is logged in: GraphiQL with our library, history and result panel. */
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import type { ExampleOperation } from '../example-operation';
import { AccountBar } from './account-bar';
import { ExplorerContext, type ResultView } from './explorer-context';
import { createGraphqlFetcher } from './graphql-fetcher';
import { LIBRARY_PLUGIN } from './library-plugin';
import type { LoginSession, SessionUser } from './login-session';
import { WELCOME } from './open-example';
import { ResultPanel } from './result-panel';
import { createUserStorage } from './user-storage';

export interface ExplorerProps {
  readonly session: LoginSession;
  readonly user: SessionUser;
  readonly examples: readonly ExampleOperation[];
}

const PLUGINS = [LIBRARY_PLUGIN, HISTORY_PLUGIN];

export function Explorer({ session, user, examples }: ExplorerProps) {
  const [view, setView] = useState<ResultView>('table');
  const storage = useMemo(() => createUserStorage(user.domain, user.id), [user.domain, user.id]);
  const { fetcher, query, close } = useMemo(
    () => createGraphqlFetcher(session, examples),
    [session, examples],
  );
  useEffect(() => close, [close]);
  const { school, timeZone } = useSchool(fetcher);
  const explorer = useMemo(
    () => ({ session, user, school, timeZone, today: dayIn(timeZone), examples, view, setView, query }),
    [session, user, school, timeZone, examples, view, query],
  );
  return (
    <ExplorerContext value={explorer}>
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        plugins={PLUGINS}
        visiblePlugin={LIBRARY_PLUGIN}
        defaultQuery={WELCOME}
        defaultEditorToolsVisibility="variables"
        shouldPersistHeaders={false}
        maxHistoryLength={100}
        className={`view-${view}`}
      >
        <GraphiQL.Logo>
          <AccountBar />
        </GraphiQL.Logo>
        <GraphiQL.Footer>
          <ResultPanel />
        </GraphiQL.Footer>
      </GraphiQL>
    </ExplorerContext>
  );
}

const SCHOOL = '{ me { domain { name timeZone } } }';

function useSchool(fetcher: ReturnType<typeof createGraphqlFetcher>['fetcher']) {
  const [school, setSchool] = useState({ school: '', timeZone: 'UTC' });
  useEffect(() => {
    let isCurrent = true;
    void Promise.resolve(fetcher({ query: SCHOOL })).then((answer) => {
      const { data } = answer as {
        readonly data?: { readonly me?: { readonly domain: { name: string; timeZone: string } } };
      };
      const domain = data?.me?.domain;
      if (isCurrent && domain) setSchool({ school: domain.name, timeZone: domain.timeZone });
    });
    return () => {
      isCurrent = false;
    };
  }, [fetcher]);
  return school;
}

/** `YYYY-MM-DD` now. */
function dayIn(timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date());
}
