/** The page: the login, and for who is logged in the explorer, which is loaded meanwhile. */
import { lazy, StrictMode, Suspense, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import type { ExampleOperation } from '../example-operation';
import { LoginForm } from './login-form';
import { LoginSession } from './login-session';
import { applyStoredTheme } from './user-storage';
import './page.css';

const loadExplorer = () => import('./editor-workers').then(() => import('./explorer'));
const Explorer = lazy(() => loadExplorer().then(({ Explorer }) => ({ default: Explorer })));

/** What the page asks of the server that anyone may know. */
interface Surroundings {
  readonly school: string | null;
  readonly demoUsers: readonly string[];
  readonly examples: readonly ExampleOperation[];
}

const session = new LoginSession();

function Page() {
  const state = useSyncExternalStore(session.state.subscribe, session.state.get);
  const surroundings = useSurroundings();
  // While the password is typed, so that what follows is there at once.
  useEffect(() => void loadExplorer(), []);
  if (state.kind === 'loggedOut') {
    return (
      <main className="login-page">
        <div className="login-card">
          <h1>Campus Gateway</h1>
          <p className="login-school">{surroundings?.school ?? 'GraphQL explorer'}</p>
          <LoginForm demoUsers={surroundings?.demoUsers ?? []} onLogin={(login) => session.logIn(login)} />
          <p className="login-links">
            <a href="/docs">REST documentation</a> <a href="/graphql">Apollo Sandbox</a>
          </p>
        </div>
      </main>
    );
  }
  const { user } = state;
  return (
    <>
      <Suspense fallback={<p className="loading">Loading the explorer …</p>}>
        <h1 className="visually-hidden">Campus Gateway explorer</h1>
        {surroundings && (
          <Explorer
            key={`${user.domain} ${user.id}`}
            session={session}
            user={user}
            examples={surroundings.examples}
          />
        )}
      </Suspense>
      {state.kind === 'ended' && <SessionEnded userName={user.userName} domain={user.domain} />}
    </>
  );
}

/** Over the explorer, which keeps what is open in it. */
function SessionEnded({ userName, domain }: { readonly userName: string; readonly domain: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className="login-card"
      aria-labelledby="session-ended"
      onCancel={(event) => event.preventDefault()}
    >
      <h2 id="session-ended">Your session has ended</h2>
      <p>Log in again to go on; nothing you have open is lost.</p>
      <LoginForm
        userName={userName}
        demoUsers={[]}
        onLogin={(login) => session.logIn({ ...login, domain })}
      />
      <button type="button" onClick={() => void session.logOut()}>
        As somebody else
      </button>
    </dialog>
  );
}

function useSurroundings(): Surroundings | undefined {
  const [surroundings, setSurroundings] = useState<Surroundings>();
  useEffect(() => {
    void Promise.all(['/explore/school.json', '/explore/operations.json'].map(getJson)).then(
      ([school, examples]) => setSurroundings({ ...school, examples }),
      () => setSurroundings({ school: null, demoUsers: [], examples: [] }),
    );
  }, []);
  return surroundings;
}

async function getJson(path: string) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return await response.json();
}

applyStoredTheme();
const root = document.getElementById('explorer');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
