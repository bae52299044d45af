/** The explorer of a logged-in user: GraphiQL with our library, history and result panel. */
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { useGraphiQLActions } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import type { LoginSession, SessionUser } from '../session/login-session';
import { createUserStorage, ExplorerContext, type ResultView } from './explorer-context';
import { createGraphqlFetcher } from './graphql-fetcher';
import { LIBRARY_PLUGIN } from './library-plugin';
import { WELCOME } from './open-example';
import { ResultPanel } from './result-panel';
import './page.css';

export interface ExplorerProps {
  readonly session: LoginSession;
  readonly user: SessionUser;
  readonly examples: readonly ExampleOperation[];
  readonly theme: 'light' | 'dark';
}

const PLUGINS = [LIBRARY_PLUGIN, HISTORY_PLUGIN];

export function Explorer({ session, user, examples, theme }: ExplorerProps) {
  const [view, setView] = useState<ResultView>('table');
  const storage = useMemo(() => createUserStorage(user.domain, user.id), [user.domain, user.id]);
  const { fetcher, query, close } = useMemo(
    () => createGraphqlFetcher(session, examples),
    [session, examples],
  );
  useEffect(() => close, [close]);
  const { timeZone } = useSchool(fetcher);
  const explorer = useMemo(
    () => ({ session, user, timeZone, today: dayIn(timeZone), examples, view, setView, query }),
    [session, user, timeZone, examples, view, query],
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
          <FollowedTheme theme={theme} />
        </GraphiQL.Logo>
        <GraphiQL.Footer>
          <ResultPanel />
        </GraphiQL.Footer>
      </GraphiQL>
    </ExplorerContext>
  );
}

/** Passes the theme of the portal to the editors, and renders nothing. */
function FollowedTheme({ theme }: Pick<ExplorerProps, 'theme'>) {
  const { setTheme } = useGraphiQLActions();
  useEffect(() => setTheme(theme), [theme, setTheme]);
  return null;
}

const SCHOOL = '{ me { domain { timeZone } } }';

function useSchool(fetcher: ReturnType<typeof createGraphqlFetcher>['fetcher']) {
  const [school, setSchool] = useState({ timeZone: 'UTC' });
  useEffect(() => {
    let isCurrent = true;
    void Promise.resolve(fetcher({ query: SCHOOL })).then((answer) => {
      const { data } = answer as {
        readonly data?: { readonly me?: { readonly domain: { timeZone: string } } };
      };
      const domain = data?.me?.domain;
      if (isCurrent && domain) setSchool({ timeZone: domain.timeZone });
    });
    return () => {
      isCurrent = false;
    };
  }, [fetcher]);
  return school;
}

/** The current day, as `YYYY-MM-DD`. */
function dayIn(timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date());
}
