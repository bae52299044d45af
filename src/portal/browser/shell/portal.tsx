/** What a user sees who is logged in: the shell, and in it the page that the address names. */

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

/** What is not the user's fault is tried once more; a refusal would be the same. */
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
 * What was answered is shown for a while without asking again. Nobody but the gateway knows what follows
 * from a change, such as which figures of the home page: after one, every page asks anew when it is gone to.
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
      // Where that very question is refused, it would be asked without an end.
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

  /** What the viewer may do is not what the page took it for: it is asked anew. */
  function noteRefusal(fault: unknown): void {
    if (!(fault instanceof GatewayProblem) || fault.code !== 'FORBIDDEN') return;
    void queries.invalidateQueries({ queryKey: [PortalViewer.name] });
  }
}

function WithViewer() {
  const gateway = useGateway();
  const router = useMemo(createPortalRouter, []);
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
  // What is offered follows from rights, which may be others by the next page.
  const queries = useQueryClient();
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) void queries.prefetchQuery(asked);
      }),
    [router, queries, asked],
  );
  // The page is drawn in steps, between which the browser answers touches: an answer is drawn in one.
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

/** Collections are called for every page what they are called in the language that is shown. */
function InWords({ viewer, children }: InWordsProps) {
  const say = useReportWords();
  const inWords = useMemo(() => {
    const collections = viewer.collections.map((one) => ({ ...one, title: say(one.title) }));
    return { ...viewer, collections };
  }, [viewer, say]);
  return <ViewerContext value={inWords}>{children}</ViewerContext>;
}
