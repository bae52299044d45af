/** The portal: the log-in if there is no session, otherwise the page of the address. */
import { i18n } from '@lingui/core';
import { I18nProvider } from '@lingui/react';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, StrictMode, startTransition, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { OfflinePage } from './entrance/entrance-card';
import { LoginPage, SessionEnded } from './entrance/login-page';
import { Portal } from './frame/portal';
import { GatewayClient } from './gateway/gateway-client';
import { GatewayContext, SessionContext } from './gateway/use-gateway';
import { preferredLanguage } from './language/preferred-language';
import { switchLanguage, useLanguage } from './language/texts';
import { branchInAddress } from './session/graphql-headers';
import { LoginSession } from './session/login-session';
import { lazyPart } from './shell/states';
import { nonceOfPage, READABLE, THEME } from './theme';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './portal.css';

const session = new LoginSession();
const gateway = new GatewayClient(session, branchInAddress());

/** The queries without a session. */
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 60_000 } } });

const linkToken = takeLinkToken();

const WelcomePage = lazyPart(async () => (await import('./entrance/welcome-page')).WelcomePage);

const FirstRunPage = lazyPart(async () => (await import('./entrance/first-run-page')).FirstRunPage);

/** Pages of links, which need no session. */
const LINK_PAGES: Readonly<Record<string, ComponentType<{ readonly token: string }>>> = {
  '/welcome': WelcomePage,
  '/first-run': FirstRunPage,
};

function Entrance() {
  useLanguage();
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const LinkPage = LINK_PAGES[location.pathname];
  if (LinkPage) return <LinkPage token={linkToken} />;
  if (state.kind === 'starting') return null;
  if (state.kind === 'unreachable') return <OfflinePage onTry={session.resume} />;
  if (state.kind === 'loggedOut') return <LoginPage />;
  const { user } = state;
  return (
    <>
      <Portal key={`${user.domain} ${user.id}`} />
      {state.kind === 'ended' && <SessionEnded user={user} />}
    </>
  );
}

async function start(root: Element): Promise<void> {
  const nonce = nonceOfPage();
  // The component that locks scrolling behind a dialog reads the nonce from here.
  Object.assign(globalThis, { __webpack_nonce__: nonce });
  await Promise.all([switchLanguage(preferredLanguage()), session.resume()]);
  const page = (
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <MantineProvider
          theme={THEME}
          cssVariablesResolver={READABLE}
          defaultColorScheme="auto"
          getStyleNonce={() => nonce}
        >
          <SessionContext value={session}>
            <GatewayContext value={gateway}>
              <QueryClientProvider client={queries}>
                <Notifications position="bottom-right" />
                <Entrance />
              </QueryClientProvider>
            </GatewayContext>
          </SessionContext>
        </MantineProvider>
      </I18nProvider>
    </StrictMode>
  );
  startTransition(() => createRoot(root).render(page));
}

// Browsers offer service workers over HTTPS and on the same machine only.
if ('serviceWorker' in navigator)
  addEventListener('load', () => void navigator.serviceWorker.register('/service-worker.js').catch(() => {}));

const root = document.querySelector('#portal');
if (root) void start(root);

/**
 * Reads the secret of a link after `#` and removes it from the address at once, so that it appears neither
 * in the history of the browser nor on the screen. Other pages keep their fragment.
 */
function takeLinkToken(): string {
  if (!['/welcome', '/first-run'].includes(location.pathname)) return '';
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  // Opening another link in the same tab changes only the fragment, which would not reload the page
  // otherwise.
  addEventListener('hashchange', () => location.reload());
  return token;
}
