/** The explorer as a page of the portal. The library and the editors are loaded on demand. */
import { useComputedColorScheme } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import { t } from '../language/texts.js';
import { lazyPart } from '../shell/states';

const Explorer = lazyPart(async () => {
  await import('./editor-workers');
  return (await import('./explorer')).Explorer;
}, 12);

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
  useDocumentTitle(`${title} · Campus Gateway`);
  return (
    <div className="explorer-page">
      <h1 className="visually-hidden">{title}</h1>
      {examples && <Explorer examples={examples} theme={theme} />}
    </div>
  );
}
