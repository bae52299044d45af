/**
 * Keeps who is logged in: the tokens of `POST /auth` are in sessionStorage, so that they end with the browser
 * tab and are sent by nothing but our own code.
 */
import { ObservableValue } from './observable-value';

export interface SessionUser {
  readonly id: string;
  readonly userName: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly domain: string;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970, by the clock of this browser. */
  readonly expiresAt: number;
}

export type SessionState =
  | { readonly kind: 'loggedOut' }
  | { readonly kind: 'loggedIn'; readonly user: SessionUser; readonly tokens: Tokens }
  /** The tokens are dead; what the user has open stays until the same user logs in again. */
  | { readonly kind: 'ended'; readonly user: SessionUser };

export interface Credentials {
  readonly userName: string;
  readonly password: string;
  /** The domain of a user of a branch; '' for the main school. */
  readonly domain: string;
}

/** What the service said no with, for the person who asked. */
export class Refusal extends Error {}

const STORAGE_KEY = 'campus-explore-session';
/** A token that ends within this time is exchanged before it is used. */
const REFRESH_BEFORE_MS = 30_000;

export class LoginSession {
  readonly state = new ObservableValue<SessionState>(readStored());
  #refreshing: Promise<string | undefined> | undefined;

  /** @throws Refusal with what to tell the user */
  async logIn({ userName, password, domain }: Credentials): Promise<void> {
    const grant = { user_name: userName, password, ...(domain !== '' && { domain }) };
    this.#become(await requestTokens(grant));
  }

  /** Ends the session on the service, too; here in any case. */
  async logOut(): Promise<void> {
    const state = this.state.get();
    this.#become({ kind: 'loggedOut' });
    if (state.kind !== 'loggedIn') return;
    const { accessToken } = state.tokens;
    await fetch('/auth/logout', {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}` },
    }).catch(() => undefined);
  }

  /** A token that is good for a request; `undefined`: the user has to log in again, and is asked to. */
  async accessToken(): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.expiresAt - Date.now() > REFRESH_BEFORE_MS) return state.tokens.accessToken;
    return await this.renew(state.tokens.accessToken);
  }

  /**
   * Another token than this one, which was refused. A refresh token works once: callers at the same time
   * share one exchange.
   */
  async renew(refused: string): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.accessToken !== refused) return state.tokens.accessToken;
    this.#refreshing ??= this.#exchange(state.tokens.refreshToken).finally(() => {
      this.#refreshing = undefined;
    });
    return await this.#refreshing;
  }

  async #exchange(refreshToken: string): Promise<string | undefined> {
    const { user } = signedIn(this.state.get());
    try {
      const renewed = await requestTokens({ refresh_token: refreshToken });
      this.#become(renewed);
      return renewed.tokens.accessToken;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#become(user ? { kind: 'ended', user } : { kind: 'loggedOut' });
      return undefined;
    }
  }

  #become(state: SessionState): void {
    if (state.kind === 'loggedIn') sessionStorage.setItem(STORAGE_KEY, JSON.stringify(state));
    else sessionStorage.removeItem(STORAGE_KEY);
    this.state.set(state);
  }
}

function signedIn(state: SessionState): { readonly user: SessionUser | undefined } {
  return { user: state.kind === 'loggedOut' ? undefined : state.user };
}

/** What this page stored itself; after a change of its shape the user logs in once more. */
function readStored(): SessionState {
  const stored = sessionStorage.getItem(STORAGE_KEY);
  if (stored === null) return { kind: 'loggedOut' };
  const state: Partial<Extract<SessionState, { kind: 'loggedIn' }>> = JSON.parse(stored);
  if (!state.user?.id || !state.tokens?.refreshToken) return { kind: 'loggedOut' };
  return { kind: 'loggedIn', user: state.user, tokens: state.tokens };
}

type LoggedIn = Extract<SessionState, { kind: 'loggedIn' }>;

interface TokenAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly user: {
    readonly _id: string;
    readonly user_name: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly domain: string;
  };
}

async function requestTokens(grant: Readonly<Record<string, string>>): Promise<LoggedIn> {
  const response = await fetch('/auth', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(grant),
  });
  if (!response.ok) throw new Refusal(await reasonOf(response));
  const answer: TokenAnswer = await response.json();
  const { user } = answer;
  return {
    kind: 'loggedIn',
    user: { id: user._id, userName: user.user_name, name: user.name, roles: user.roles, domain: user.domain },
    tokens: {
      accessToken: answer.access_token,
      refreshToken: answer.refresh_token,
      expiresAt: Date.now() + answer.expires_in * 1000,
    },
  };
}

/** The detail of a problem (RFC 9457); of anything else, its status. */
async function reasonOf(response: Response): Promise<string> {
  const problem: { readonly detail?: unknown } = await response.json().catch(() => ({}));
  if (typeof problem.detail === 'string') return problem.detail;
  return `The gateway answered ${response.status}. Try again in a moment.`;
}
