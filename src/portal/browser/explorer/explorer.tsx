/** The explorer of a logged-in user: GraphiQL with our library, history and result panel. */
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useWindowEvent } from '@mantine/hooks';
import { GraphiQL } from 'graphiql';
import { useEffect, useMemo, useState } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import { operationOfHash } from '../../explore/shared-operation';
import { useGateway, useViewer } from '../gateway/use-gateway';
import { createUserStorage, ExplorerContext, type ResultView } from './explorer-context';
import { createGraphqlFetcher } from './graphql-fetcher';
import { LIBRARY_PLUGIN, WELCOME } from './library-plugin';
import { ResultPanel } from './result-panel';
import './page.css';

export interface ExplorerProps {
  readonly examples: readonly ExampleOperation[];
  readonly theme: 'light' | 'dark';
}

const PLUGINS = [LIBRARY_PLUGIN, HISTORY_PLUGIN];

export function Explorer({ examples, theme }: ExplorerProps) {
  const gateway = useGateway();
  const { id: userId, domain } = useViewer();
  const [view, setView] = useState<ResultView>('table');
  const storage = useMemo(() => createUserStorage(domain.id, userId), [domain.id, userId]);
  const { fetcher, query } = useMemo(() => createGraphqlFetcher(gateway, examples), [gateway, examples]);
  const [shared] = useState(() => operationOfHash(location.hash));
  // Another link, opened in the same tab, changes only the part after #.
  useWindowEvent('hashchange', () => location.hash.startsWith('#query=') && location.reload());
  const explorer = useMemo(() => ({ examples, view, setView, query }), [examples, view, query]);
  return (
    <ExplorerContext value={explorer}>
      <GraphiQL
        fetcher={fetcher}
        storage={storage}
        plugins={PLUGINS}
        visiblePlugin={LIBRARY_PLUGIN}
        defaultQuery={WELCOME}
        {...(shared && { initialQuery: shared.query, initialVariables: shared.variables })}
        defaultEditorToolsVisibility="variables"
        shouldPersistHeaders={false}
        maxHistoryLength={100}
        className={`view-${view}`}
      >
        <GraphiQL.Logo>
          <FollowedTheme theme={theme} />
          <WrappedLines />
        </GraphiQL.Logo>
        <GraphiQL.Footer>
          <ResultPanel />
        </GraphiQL.Footer>
      </GraphiQL>
    </ExplorerContext>
  );
}

/** Wraps long lines in the editors, and renders nothing. */
function WrappedLines() {
  const editors = useGraphiQL(pick('queryEditor', 'variableEditor', 'responseEditor'));
  useEffect(() => {
    for (const editor of Object.values(editors)) editor?.updateOptions({ wordWrap: 'on' });
  }, [editors]);
  return null;
}

/** Passes the theme of the portal to the editors, and renders nothing. */
function FollowedTheme({ theme }: Pick<ExplorerProps, 'theme'>) {
  const { setTheme } = useGraphiQLActions();
  useEffect(() => setTheme(theme), [theme, setTheme]);
  return null;
}
