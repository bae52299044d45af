/** The explorer as a page of the portal. The library and the editors are loaded on demand. */
import { useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useLayoutEffect } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import { t } from '../language/texts.js';

const Explorer = lazy(async () => {
  await import('./editor-workers');
  const { Explorer } = await import('./explorer');
  return { default: Explorer };
});

export function ExplorerPage() {
  const { data: examples } = useQuery({
    queryKey: ['operations library'],
    queryFn: async (): Promise<readonly ExampleOperation[]> => {
      const response = await fetch('/explore/operations.json').catch(() => undefined);
      return response?.ok ? await response.json() : [];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
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
  return (
    <div className="explorer-page">
      <h1 className="visually-hidden">{title}</h1>
      <Suspense fallback={<p className="loading">{t('Loading the explorer …')}</p>}>
        {examples && <Explorer examples={examples} theme={theme} />}
      </Suspense>
    </div>
  );
}
