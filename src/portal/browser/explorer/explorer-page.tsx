/** The explorer as a page of the portal. The library and the editors are loaded on demand. */
import { useComputedColorScheme } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import editor from 'monaco-editor/esm/vs/editor/editor.worker.js?worker&url';
import json from 'monaco-editor/esm/vs/language/json/json.worker.js?worker&url';
import graphql from 'monaco-graphql/esm/graphql.worker.js?worker&url';
import { useLayoutEffect } from 'react';
import type { ExampleOperation } from '../../explore/example-operation';
import { t } from '../language/texts.js';
import { lazyPart } from '../shell/states';

/** Monaco, the editor in GraphiQL, gets the addresses of its workers on our server before it is loaded. */
const Explorer = lazyPart(async () => {
  const urls: Readonly<Record<string, string>> = { json, graphql };
  const getWorker = (_id: string, label: string) => new Worker(urls[label] ?? editor, { name: label });
  Object.assign(globalThis, { MonacoEnvironment: { getWorker } });
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
