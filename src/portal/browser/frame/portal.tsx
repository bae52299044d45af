/** The portal of a logged-in user: the shell with the page of the address. */

import { Anchor, Group } from '@mantine/core';
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  queryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
  retainSearchParams,
} from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useDeferredValue, useEffect, useMemo } from 'react';
import { PortalViewer, type PortalViewerQuery } from '../../../generated/portal/shell/viewer';
import { Brand, EntranceCard } from '../entrance/entrance-card';
import { readEarly } from '../gateway/gateway-client';
import { useGateway, useSession, useViewer, type Viewer, ViewerContext } from '../gateway/use-gateway';
import { say, showTimesIn, switchLanguage, t, useLanguage } from '../language/texts';
import { PORTAL_PAGES, type PortalPage } from '../portal-pages';
import { codeOf, GatewayProblem, toError } from '../session/gateway-problem';
import { BRANCH_PARAMETER, branchInAddress, homeOfBranch } from '../session/graphql-headers';
import { takeEarly } from '../session/login-session';
import { Deferred } from '../shell/lazy-sections';
import {
  causeOfMissing,
  LoadingState,
  lazyPart,
  NoRightState,
  NotFoundState,
  PageFrame,
  ProblemState,
  type ProblemStateProps,
  unreachable,
} from '../shell/states';
import { TextButton } from '../shell/text-button';
import { PortalShell } from './portal-shell';

const EnrolmentPage = lazyPart(async () => (await import('../account/second-factor-setup')).EnrolmentPage);

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
  // A change that waits for the network is dropped when its user discards it or leaves its dialog or page.
  const mutations = queries.getMutationCache();
  mutations.subscribe(({ type, mutation }) => {
    if (type === 'observerRemoved' && mutation.state.isPaused) mutations.remove(mutation);
  });
  return queries;

  /** After a refusal, the rights of the viewer are requested again, because they have changed. */
  function noteRefusal(fault: unknown): void {
    if (codeOf(fault) === 'FORBIDDEN') void queries.invalidateQueries({ queryKey: [PortalViewer.name] });
  }
}

/** Loads the page of the address at once, so that it is ready when the viewer is known. */
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
        queryFn: async ({ signal }) => {
          const early = await readEarly<PortalViewerQuery>(takeEarly('viewer'));
          const viewer = early ?? (await gateway.execute(PortalViewer, {}, signal));
          showTimesIn(viewer.me.domain.timeZone);
          return viewer;
        },
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
  if (!viewer) return <Splash />;
  if (drawn.secondFactor.isMissing) {
    return <EnrolmentPage school={viewer.domain.name} onDone={() => void refetch()} />;
  }
  return (
    <InWords viewer={viewer}>
      <RouterProvider router={router} />
    </InWords>
  );
}

/** The viewer with the titles of collections and reports in the language of the page. */
function InWords({ viewer, children }: { readonly viewer: Viewer; readonly children: ReactNode }) {
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the words are those of the language.
  const inWords = useMemo(() => {
    const inWordsOf = <Titled extends { readonly title: string }>(titled: readonly Titled[]) =>
      titled.map((one) => ({ ...one, title: say(one.title) }));
    const { reports } = viewer;
    // A new record would not send anything, so users who may create one use the page Write to parents.
    const collections = viewer.collections.map((one) =>
      one.name === 'sms_log' ? { ...one, canCreate: false } : one,
    );
    return { ...viewer, collections: inWordsOf(collections), reports: inWordsOf(reports) };
  }, [viewer, language]);
  return <ViewerContext value={inWords}>{children}</ViewerContext>;
}

/** Continues the splash screen of the HTML (`server/portal.ts`) until the page is ready. */
function Splash() {
  return (
    <div className="splash" role="status">
      <Brand />
    </div>
  );
}

/** Shown if the request for the viewer fails: the reason, and what the user can do. */
function NoViewerPage(props: ProblemStateProps) {
  const session = useSession();
  return (
    <EntranceCard title={t('The portal cannot be opened')} subtitle={location.host}>
      <ProblemState {...props} />
      <Group justify="space-between">
        {branchInAddress() === '' ? (
          <span />
        ) : (
          <Anchor href={homeOfBranch('')}>{t('Back to your own school')}</Anchor>
        )}
        <TextButton
          label={t('Log out')}
          variant="subtle"
          size="compact-sm"
          onClick={() => void session.logOut()}
        />
      </Group>
    </EntranceCard>
  );
}

type LazyPage = ComponentType & { preload(): Promise<void> };

/** The routes of all pages. Parameters after `?` are texts and stay as they are written. */
function createPortalRouter() {
  const root = createRootRoute({
    component: () => (
      <Deferred before={<Splash />}>
        <PortalShell />
      </Deferred>
    ),
    notFoundComponent: () => <NotFoundState />,
    // Links keep the branch of the user.
    search: { middlewares: [retainSearchParams<Record<string, string>>([BRANCH_PARAMETER])] },
  });
  const home = PORTAL_PAGES.find(({ path }) => path === '/');
  const alias: readonly PortalPage[] = home ? [{ ...home, path: '/portal' }] : [];
  const routes = [...PORTAL_PAGES, ...alias].map((page) => {
    const Page = lazyRouteComponent(() => loadPage(page), 'Page') as LazyPage;
    return createRoute({
      getParentRoute: () => root,
      path: page.path,
      // The router loads the file of a page before it draws it, and when the pointer is over a link to it.
      component: Object.assign(() => <GuardedPage page={page} content={Page} />, { preload: Page.preload }),
      errorComponent: ({ error, reset }) => (
        <PageFrame title={t(page.label)}>
          {/* The router keeps the error of a page that failed to load until it is reset. */}
          <ProblemState problem={toError(error)} retry={() => void Page.preload().then(reset)} />
        </PageFrame>
      ),
    });
  });
  return createRouter({
    routeTree: root.addChildren(routes),
    defaultPreload: 'intent',
    defaultPendingMs: 150,
    defaultPendingComponent: LoadingState,
    defaultErrorComponent: ({ error, reset }) => <ProblemState problem={toError(error)} retry={reset} />,
    scrollRestoration: true,
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const known = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      const text = new URLSearchParams(known.map(([name, value]) => [name, String(value)])).toString();
      return text === '' ? '' : `?${text}`;
    },
  });
}

/**
 * If a page fails to load, the router assumes a new version and reloads the portal. While the gateway does
 * not answer, that would lose the open page, so another error is thrown.
 */
async function loadPage(page: PortalPage) {
  try {
    return { Page: await page.load() };
  } catch (fault) {
    if (navigator.onLine && (await causeOfMissing(toError(fault))) !== 'unreachable') throw fault;
    throw unreachable();
  }
}

/** Shows a page only to viewers who have access. The gateway itself refuses the data to others. */
function GuardedPage({ page, content: Page }: { readonly page: PortalPage; readonly content: LazyPage }) {
  useLanguage();
  return page.isFor(useViewer()) ? <Page /> : <NoRightState label={page.label} />;
}
