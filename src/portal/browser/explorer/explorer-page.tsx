/** The explorer as a page of the portal. The library and the editors are loaded on demand. */
import { useComputedColorScheme } from '@mantine/core';
import { lazy, Suspense, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import { useSession } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts.js';

const Explorer = lazy(async () => {
  await import('./editor-workers');
  const { Explorer } = await import('./explorer');
  return { default: Explorer };
});

export function ExplorerPage() {
  const t = useTexts();
  const session = useSession();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const examples = useExamples();
  const theme = useComputedColorScheme('light');
  // This must precede rendering the editors, which read their colours from it.
  useLayoutEffect(() => {
    document.body.classList.toggle('graphiql-dark', theme === 'dark');
    document.body.classList.toggle('graphiql-light', theme === 'light');
  }, [theme]);
  const title = t('GraphQL explorer');
  useEffect(() => {
    document.title = `${title} · Campus Gateway`;
  }, [title]);
  if (state.kind !== 'loggedIn' && state.kind !== 'ended') return null;
  const { user } = state;
  return (
    <div className="explorer-page">
      <h1 className="visually-hidden">{title}</h1>
      <Suspense fallback={<p className="loading">{t('Loading the explorer …')}</p>}>
        {examples && <Explorer session={session} user={user} examples={examples} theme={theme} />}
      </Suspense>
    </div>
  );
}

function useExamples(): readonly ExampleOperation[] | undefined {
  const [examples, setExamples] = useState<readonly ExampleOperation[]>();
  useEffect(() => {
    fetch('/explore/operations.json')
      .then((response) => response.json())
      .then(setExamples, () => setExamples([]));
  }, []);
  return examples;
}
