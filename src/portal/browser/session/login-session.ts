/**
 * Keeps who is logged in. The access token is in the memory of this page alone; what a reload finds again
 * is in a cookie that no script can read.
 */
import { takeEarly } from './early-answers';
import { ObservableValue } from './observable-value';
import { problemCode } from './problem-code';

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

export type SessionState =
  /** It is not known yet whether this browser has a session. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'loggedOut' }
  | { readonly kind: 'loggedIn'; readonly user: SessionUser; readonly tokens: Tokens }
  /** The tokens are dead; what the user has open stays until the same user logs in again. */
  | { readonly kind: 'ended'; readonly user: SessionUser };

export interface Credentials {
  readonly userName: string;
  readonly password: string;
  /** The domain of a user of a branch; '' for the main school. */
  readonly domain: string;
  /** Of the second factor: six digits, or a recovery code. Absent until it is asked for. */
  readonly code?: string;
}

/** What the service said no with, for the person who asked. */
export class Refusal extends Error {
  /** As in the catalog of errors; of an answer that has none, its status. */
  readonly code: string;
  /** How long whoever tries too often is to wait. */
  readonly waitSeconds: number | undefined;

  constructor(message: string, code: string, waitSeconds?: number) {
    super(message);
    this.code = code;
    this.waitSeconds = waitSeconds;
  }
}

/** A token that ends within this time is exchanged before it is used. */
const REFRESH_BEFORE_MS = 30_000;

export class LoginSession {
  readonly state = new ObservableValue<SessionState>({ kind: 'starting' });
  #refreshing: Promise<string | undefined> | undefined;

  /** Goes on with the session that this browser has, if it has one. */
  async resume(): Promise<void> {
    const asked = takeEarly('session')?.then(readTokens) ?? requestTokens('refresh');
    this.state.set(await asked.catch(() => LOGGED_OUT));
  }

  /** @throws Refusal with what to tell the user */
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
   * Goes on with a login at a provider of identities, for who has a second factor here. @throws Refusal as
   * `logIn`
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
   * Ends the session on the service, too; here in any case. Who logged in at a provider of identities goes
   * there to end theirs, and comes back.
   */
  async logOut(): Promise<void> {
    const end = await this.logOutHere();
    if (end !== undefined) location.assign(end);
  }

  /** As `logOut`, and the page stays: gives the page of the provider where a session goes on, if one does. */
  async logOutHere(): Promise<string | undefined> {
    this.state.set(LOGGED_OUT);
    const response = await fetch('/auth/browser/logout', { method: 'POST' }).catch(() => undefined);
    if (response?.status !== 200) return undefined;
    const { end_session: end } = (await response.json()) as { readonly end_session: string };
    return end;
  }

  /** A token that is good for a request; `undefined`: the user has to log in again, and is asked to. */
  async accessToken(): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.expiresAt - Date.now() > REFRESH_BEFORE_MS) return state.tokens.accessToken;
    return await this.renew(state.tokens.accessToken);
  }

  /**
   * Another token than this one, which was refused. Callers at the same time share one exchange.
   */
  async renew(refused: string): Promise<string | undefined> {
    const state = this.state.get();
    if (state.kind !== 'loggedIn') return undefined;
    if (state.tokens.accessToken !== refused) return state.tokens.accessToken;
    this.#refreshing ??= this.#exchange(state.user).finally(() => {
      this.#refreshing = undefined;
    });
    return await this.#refreshing;
  }

  /**
   * Resolves when the user whose session has ended is in again; `false` when somebody logged out instead.
   */
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
        throw new Refusal('Somebody else has logged in with this browser.', 'UNAUTHENTICATED');
      this.state.set(renewed);
      return renewed.tokens.accessToken;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.state.set({ kind: 'ended', user });
      return undefined;
    }
  }
}

const LOGGED_OUT: SessionState = { kind: 'loggedOut' };

/** Another tab may have changed who is logged in; what is open here is not theirs. */
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
  if (response.status === 204) throw new Refusal('Nobody is logged in with this browser.', 'UNAUTHENTICATED');
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

/** The detail of a problem (RFC 9457); of anything else, its status. */
async function readRefusal(response: Response): Promise<Refusal> {
  const problem: { readonly detail?: unknown; readonly type?: unknown } = await response
    .json()
    .catch(() => ({}));
  const words = `The gateway answered ${response.status}. Try again in a moment.`;
  return new Refusal(
    typeof problem.detail === 'string' ? problem.detail : words,
    problemCode(problem, response.status),
    Number(response.headers.get('retry-after')) || undefined,
  );
}
