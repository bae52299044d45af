/** The portal of a logged-in user: the shell with the page of the address. */

import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useDeferredValue, useEffect, useMemo } from 'react';
import { PortalViewer, type PortalViewerQuery } from '../../../generated/portal/shell/viewer';
import { readEarly } from '../gateway/gateway-client';
import { useGateway } from '../gateway/gateway-context';
import { GatewayProblem } from '../gateway/gateway-problem';
import { switchLanguage } from '../language/languages';
import { useReportWords } from '../language/use-report-words';
import { takeEarly } from '../session/early-answers';
import { Arriving } from './arriving';
import { NoViewerPage } from './no-viewer-page';
import { createPortalRouter } from './portal-router';
import { type Viewer, ViewerContext } from './viewer';

const EnrolmentPage = lazy(async () => ({
  default: (await import('../entrance/enrolment-page')).EnrolmentPage,
}));

/** A failed request is retried once. A refusal is not, because it would be refused again. */
const MOST_RETRIES = 1;

export function Portal() {
  const queries = useMemo(createQueryClient, []);
  return (
    <QueryClientProvider client={queries}>
      <WithViewer />
    </QueryClientProvider>
  );
}

/**
 * Answers are cached for a while. Only the gateway knows what else a change affects, such as figures of the
 * home page, so after a change every page requests its data again when it is opened.
 */
function createQueryClient(): QueryClient {
  const queries: QueryClient = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        retry: (failures, fault) =>
          failures < MOST_RETRIES && !(fault instanceof GatewayProblem && fault.kind !== 'unreachable'),
      },
    },
    queryCache: new QueryCache({
      // A refusal of the viewer query itself is ignored, because it would be repeated endlessly.
      onError: (fault, { queryKey }) => {
        if (queryKey[0] !== PortalViewer.name) noteRefusal(fault);
      },
    }),
    mutationCache: new MutationCache({
      onError: noteRefusal,
      onSettled: () => queries.invalidateQueries({ refetchType: 'none' }),
    }),
  });
  return queries;

  /** After a refusal, the rights of the viewer are requested again, because they have changed. */
  function noteRefusal(fault: unknown): void {
    if (!(fault instanceof GatewayProblem) || fault.code !== 'FORBIDDEN') return;
    void queries.invalidateQueries({ queryKey: [PortalViewer.name] });
  }
}

/** The page of the address is loaded at once, so that it is there when the viewer is known. */
function startRouter(): ReturnType<typeof createPortalRouter> {
  const router = createPortalRouter();
  void router.load();
  return router;
}

function WithViewer() {
  const gateway = useGateway();
  const router = useMemo(startRouter, []);
  const asked = useMemo(
    () =>
      queryOptions({
        queryKey: [PortalViewer.name],
        queryFn: async ({ signal }) =>
          (await readEarly<PortalViewerQuery>(takeEarly('viewer'))) ??
          (await gateway.execute(PortalViewer, {}, signal)),
      }),
    [gateway],
  );
  const { data, error, refetch } = useQuery(asked);
  // Rights are requested again with each navigation, because they may have changed.
  const queries = useQueryClient();
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) void queries.prefetchQuery(asked);
      }),
    [router, queries, asked],
  );
  // A deferred value is rendered in steps, between which the browser handles touches.
  const drawn = useDeferredValue(data);
  const viewer = drawn?.me;
  const chosen = viewer?.language;
  useEffect(() => {
    if (chosen === 'en' || chosen === 'hi') void switchLanguage(chosen);
  }, [chosen]);
  if (error && !data) return <NoViewerPage problem={error} retry={() => void refetch()} />;
  if (!viewer) return <Arriving />;
  if (drawn.secondFactor.isMissing) {
    return (
      <Suspense>
        <EnrolmentPage school={viewer.domain.name} onDone={() => void refetch()} />
      </Suspense>
    );
  }
  return (
    <InWords viewer={viewer}>
      <RouterProvider router={router} />
    </InWords>
  );
}

interface InWordsProps {
  readonly viewer: Viewer;
  readonly children: ReactNode;
}

/** The viewer with the titles of collections and reports in the language of the page. */
function InWords({ viewer, children }: InWordsProps) {
  const say = useReportWords();
  const inWords = useMemo(() => {
    const inWordsOf = <Titled extends { readonly title: string }>(titled: readonly Titled[]) =>
      titled.map((one) => ({ ...one, title: say(one.title) }));
    const { reports } = viewer;
    // A record alone would send nothing: whoever may create one writes to parents.
    const collections = viewer.collections.map((one) =>
      one.name === 'sms_log' ? { ...one, canCreate: false } : one,
    );
    return { ...viewer, collections: inWordsOf(collections), reports: inWordsOf(reports) };
  }, [viewer, say]);
  return <ViewerContext value={inWords}>{children}</ViewerContext>;
}
