/**
 * Holds the session of the logged-in user. The access token is only in the memory of this page; a reload
 * restores the session by a cookie that no script can read.
 */
import { GatewayProblem, toProblem } from './gateway-problem';

export interface SessionUser {
  readonly id: string;
  readonly userName: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly domain: string;
}

interface Tokens {
  readonly accessToken: string;
  /** Milliseconds since 1970, by the clock of this browser. */
  readonly expiresAt: number;
}

type SessionState =
  /** The portal does not know yet whether this browser has a session. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'loggedOut' }
  /** The gateway did not answer, so whether there is a session is not known. */
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'loggedIn'; readonly user: SessionUser; readonly tokens: Tokens }
  /** The tokens are no longer valid; the open page stays until the same user logs in again. */
  | { readonly kind: 'ended'; readonly user: SessionUser };

export interface Credentials {
  readonly userName: string;
  readonly password: string;
  /** The domain of a user of a branch; '' for the main school. */
  readonly domain: string;
  /** The code of the second factor: six digits, or a recovery code. Absent until the gateway requires it. */
  readonly code?: string;
}

/** A token that expires within this time is renewed before it is used. */
const REFRESH_BEFORE_MS = 30_000;

export class LoginSession {
  readonly state = new ObservableValue<SessionState>({ kind: 'starting' });
  #refreshing: Promise<string | undefined> | undefined;

  /** Restores the session of this browser, if it has one. */
  readonly resume = async (): Promise<void> => {
    const asked = takeEarly('session')?.then(readTokens) ?? requestTokens('refresh');
    this.state.set(
      await asked.catch((fault: unknown) => (fault instanceof GatewayProblem ? LOGGED_OUT : UNREACHABLE)),
    );
  };

  /** @throws GatewayProblem if the gateway refuses it */
  async logIn({ userName, password, domain, code }: Credentials): Promise<void> {
    const grant = {
      user_name: userName,
      password,
      ...(domain !== '' && { domain }),
      ...(code !== undefined && { code }),
    };
    this.state.set(await requestTokens('login', grant));
  }

  /**
   * Completes a login at an identity provider with the code of the second factor.
   * @throws GatewayProblem as `logIn`
   */
  async logInByCode(code: string): Promise<void> {
    const response = await fetch('/auth/browser/oidc/code', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    if (!response.ok) throw await readRefusal(response);
    this.state.set(await requestTokens('refresh'));
  }

  /**
   * Ends the session at the gateway, and in this page even if the gateway does not answer. If the user logged
   * in at an identity provider, the browser goes there to end that session too, and returns.
   */
  async logOut(): Promise<void> {
    const end = await this.logOutHere();
    if (end !== undefined) location.assign(end);
  }

  /**
   * Like `logOut`, but the page stays. Returns the address at the identity provider that ends its session, if
   * there is one.
   */
  async logOutHere(): Promise<string | undefined> {
    this.state.set(LOGGED_OUT);
    const response = await fetch('/auth/browser/logout', { method: 'POST' }).catch(() => undefined);
    if (response?.status !== 200) return undefined;
    const { end_session: end } = (await response.json()) as { readonly end_session: string };
    return end;
  }

  /**
   * Returns a valid access token; `undefined` if the user must log in again, which the page then requests.
   */
  async accessToken(): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.expiresAt - Date.now() > REFRESH_BEFORE_MS) return state.tokens.accessToken;
    return await this.renew(state.tokens.accessToken);
  }

  /** Replaces a token that the gateway refused. Callers at the same time share one request. */
  async renew(refused: string): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.accessToken !== refused) return state.tokens.accessToken;
    this.#refreshing ??= this.#exchange(state.user).finally(() => {
      this.#refreshing = undefined;
    });
    return await this.#refreshing;
  }

  /** Resolves once the user has logged in again; to `false` if they logged out instead. */
  async loggedInAgain(): Promise<boolean> {
    const isDecided = () => this.state.get().kind !== 'ended';
    if (!isDecided()) {
      await new Promise<void>((resolve) => {
        const stop = this.state.subscribe(() => {
          if (!isDecided()) return;
          stop();
          resolve();
        });
      });
    }
    return this.state.get().kind === 'loggedIn';
  }

  async #exchange(user: SessionUser): Promise<string | undefined> {
    try {
      const renewed = await requestTokens('refresh');
      if (!isSame(renewed.user, user))
        throw unauthenticated('Somebody else has logged in with this browser.');
      this.state.set(renewed);
      return renewed.tokens.accessToken;
    } catch (error) {
      if (!(error instanceof GatewayProblem)) throw error;
      this.state.set({ kind: 'ended', user });
      return undefined;
    }
  }
}

const LOGGED_OUT: SessionState = { kind: 'loggedOut' };
const UNREACHABLE: SessionState = { kind: 'unreachable' };

/** Another tab may have logged in another user, who must not see what is open here. */
function isSame(one: SessionUser, other: SessionUser): boolean {
  return one.id === other.id && one.domain === other.domain;
}

type LoggedIn = Extract<SessionState, { kind: 'loggedIn' }>;

interface TokenAnswer {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: {
    readonly _id: string;
    readonly user_name: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly domain: string;
  };
}

async function requestTokens(
  action: 'login' | 'refresh',
  grant?: Readonly<Record<string, string>>,
): Promise<LoggedIn> {
  const response = await fetch(`/auth/browser/${action}`, {
    method: 'POST',
    ...(grant && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(grant) }),
  });
  return await readTokens(response);
}

async function readTokens(response: Response): Promise<LoggedIn> {
  if (response.status === 204) throw unauthenticated('Nobody is logged in with this browser.');
  if (!response.ok) throw await readRefusal(response);
  const answer: TokenAnswer = await response.json();
  const { user } = answer;
  return {
    kind: 'loggedIn',
    user: { id: user._id, userName: user.user_name, name: user.name, roles: user.roles, domain: user.domain },
    tokens: {
      accessToken: answer.access_token,
      expiresAt: Date.now() + answer.expires_in * 1000,
    },
  };
}

async function readRefusal(response: Response): Promise<GatewayProblem> {
  return toProblem(response, await response.json().catch(() => undefined));
}

function unauthenticated(message: string): GatewayProblem {
  return new GatewayProblem(message, { kind: 'refused', code: 'UNAUTHENTICATED' });
}

/** The answers to requests that `arrive.ts` sends before the main script has loaded. Each is taken once. */
interface EarlyAnswers {
  /** Whether this browser has a session. */
  readonly session: Promise<Response>;
  /** The logged-in user and their rights; `undefined` if nobody is logged in. */
  readonly viewer: Promise<Response | undefined>;
}

declare global {
  var campusEarlyAnswers: Partial<EarlyAnswers> | undefined;
}

/** Returns `undefined` if the request was not sent, or if its answer was taken before and may be outdated. */
export function takeEarly<Part extends keyof EarlyAnswers>(part: Part): EarlyAnswers[Part] | undefined {
  const { [part]: taken, ...left } = globalThis.campusEarlyAnswers ?? {};
  globalThis.campusEarlyAnswers = left as Partial<EarlyAnswers>;
  return taken as EarlyAnswers[Part] | undefined;
}

/** A value outside of React that components follow with `useSyncExternalStore`. */
export class ObservableValue<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly get = (): Value => this.#value;

  set(value: Value): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
