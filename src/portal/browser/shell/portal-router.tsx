import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { BRANCH_PARAMETER } from '../branches/branch-in-address';
import { useTexts } from '../language/use-texts';
import { PORTAL_PAGES, type PortalPage } from '../portal-pages';
import { Arriving } from './arriving';
import { GuardedPage } from './guarded-page';
import { InSteps } from './in-steps';
import { causeOfMissing, unreachable } from './missing-part';
import { PageFrame } from './page-frame';
import { PortalShell } from './portal-shell';
import { LoadingState, NotFoundState, ProblemState, type ProblemStateProps } from './states';

type LazyPage = ComponentType & { preload(): Promise<void> };

/** The addresses of the table of pages. What stands after `?` are texts, and read as they are written. */
export function createPortalRouter() {
  const root = createRootRoute({
    component: () => (
      <InSteps before={<Arriving />}>
        <PortalShell />
      </InSteps>
    ),
    notFoundComponent: () => <NotFoundState />,
    // Whoever works in a branch stays there, whichever link is followed.
    search: { middlewares: [retainSearchParams<Record<string, string>>([BRANCH_PARAMETER])] },
  });
  const home = PORTAL_PAGES.find(({ path }) => path === '/');
  const alias: readonly PortalPage[] = home ? [{ ...home, path: '/portal' }] : [];
  const routes = [...PORTAL_PAGES, ...alias].map((page) => {
    const Page = lazyRouteComponent(() => loadPage(page), 'Page') as LazyPage;
    return createRoute({
      getParentRoute: () => root,
      path: page.path,
      // The router loads the file of a page before it draws it, and when a link to it is pointed at.
      component: Object.assign(
        () => (
          <GuardedPage page={page}>
            <Page />
          </GuardedPage>
        ),
        { preload: Page.preload },
      ),
      errorComponent: ({ error, reset }) => (
        <FailedPage
          label={page.label}
          problem={toError(error)}
          retry={() => void loadAgain(Page).then(reset)}
        />
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

interface FailedPageProps extends ProblemStateProps {
  readonly label: string;
}

function FailedPage({ label, ...failure }: FailedPageProps) {
  const t = useTexts();
  return (
    <PageFrame title={t(label)}>
      <ProblemState {...failure} />
    </PageFrame>
  );
}

/**
 * A page that does not come is taken for one of a version that is gone, and the router loads the portal anew.
 * Where the gateway does not answer, that would take away what is there.
 */
async function loadPage(page: PortalPage) {
  try {
    return { Page: await page.load() };
  } catch (fault) {
    if (navigator.onLine && (await causeOfMissing(toError(fault))) !== 'unreachable') throw fault;
    throw unreachable();
  }
}

/** The router keeps the failure of a page that did not come, until it is asked for the page again. */
async function loadAgain(page: LazyPage): Promise<void> {
  await page.preload();
}

function toError(fault: unknown): Error {
  return fault instanceof Error ? fault : new Error(String(fault));
}
