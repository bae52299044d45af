/**
 * The routes by which a web page logs in. The refresh token is in a cookie that no script can read; the
 * access token is in the answer, for the page to keep in memory.
 *
 * @see decisions 6
 */
import { z } from 'zod';
import { faultAt, ServiceError } from '../../base/errors.js';
import type { Login } from '../../services/auth/authenticator.js';
import { LOGIN, LOGIN_ERRORS, tokensOf } from './auth-routes.js';
import {
  type Answer,
  BODY_ERRORS,
  jsonAnswer,
  ok,
  type RestRequest,
  type Route,
  recordBody,
  schemaOf,
  via,
} from './route.js';

/** The cookie is sent only to paths below this one. */
const COOKIE_PATH = '/auth/browser';
const COOKIE_NAME = 'campus_refresh';
/** Only a refresh token: an API key or an access token is not accepted here. */
const REFRESH_TOKEN = /^cgr_[\w-]{43}$/;
/** The cookie with the data of a login at an identity provider, used only for the logout. */
const PROVIDER_COOKIE_NAME = 'campus_provider';
const PROVIDER_TEXT = /^[\w.-]{1,4000}$/;
const PROVIDER_COOKIE_PATH = `${COOKIE_PATH}/logout`;
/** The longest that browsers keep a cookie: a session lasts as long as it is used. */
const PROVIDER_COOKIE_SECONDS = 400 * 86_400;

const LOGOUT = {
  type: 'object',
  required: ['end_session'],
  properties: {
    end_session: { type: 'string', format: 'uri', description: 'The page that ends the session there.' },
  },
} as const;

const loginSchema = z.strictObject({
  user_name: z.string().min(1),
  password: z.string().min(1),
  domain: z.string().min(1).optional(),
  code: z.string().optional(),
});

const browserLogin: Route = {
  name: 'signInBrowser',
  method: 'POST',
  path: `${COOKIE_PATH}/login`,
  group: 'Credentials',
  summary: 'Log in from a page of this host: an access token, and a cookie to refresh it by',
  description:
    'Only for pages of this host (`Origin`). The refresh token is in a cookie (`HttpOnly`, ' +
    '`SameSite=Strict`) and not in the answer.',
  parameters: [],
  body: recordBody(
    'JSON: `user_name`, `password`, `domain` where it is not the top one, and `code` where the user has ' +
      'a second factor.',
    schemaOf(loginSchema),
    { user_name: 'viewer', password: 'demo-viewer' },
  ),
  answers: [ok('The access token and its user.', LOGIN)],
  errors: [...LOGIN_ERRORS, 'FORBIDDEN', ...BODY_ERRORS],
  isOpen: true,
  ...via('auth', ['logIn', 'endSession'], async (auth, request) => {
    const { isTls } = assertSameOrigin(request);
    const sent = readLogin(request);
    const login = await auth.logIn(request.context, {
      userName: sent.user_name,
      password: sent.password,
      domain: sent.domain,
      code: sent.code,
    });
    // A new login ends the browser's previous session, whose cookie it replaces.
    const before = refreshTokenOf(request, isTls);
    if (before !== undefined) await auth.endSession(request.context, before);
    return answerInBrowser(request, login);
  }),
};

const browserRefresh: Route = {
  name: 'refreshBrowser',
  method: 'POST',
  path: `${COOKIE_PATH}/refresh`,
  group: 'Credentials',
  summary: 'Get the next access token with the cookie of a login from a page',
  description:
    'The cookie is used up and replaced. A request without the cookie has no session to continue and gets ' +
    '204. Tabs of one browser may send the same cookie within ten seconds of each other; later use of a ' +
    'replaced token ends its session.',
  parameters: [],
  answers: [
    ok('The access token and its user.', LOGIN),
    { status: 204, description: 'The browser sent no login cookie.' },
  ],
  errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_ACCEPTABLE'],
  isOpen: true,
  ...via('auth', ['refreshInBrowser'], async (auth, request) => {
    const { isTls } = assertSameOrigin(request);
    // Not an error: every page sends this when it is opened, and browsers would log a 401 to their console.
    if (valuesOf(request.headers.cookie, { name: COOKIE_NAME, isTls }).length === 0)
      return { kind: 'empty', status: 204, headers: { 'cache-control': 'no-store' } };
    const token = refreshTokenOf(request, isTls);
    if (token === undefined) throw new ServiceError('UNAUTHENTICATED', 'No login has this cookie. Log in.');
    return answerInBrowser(request, await auth.refreshInBrowser(request.context, token));
  }),
};

const browserLogout: Route = {
  name: 'signOutBrowser',
  method: 'POST',
  path: `${COOKIE_PATH}/logout`,
  group: 'Credentials',
  summary: 'End the session of the cookie, on every instance at once, and remove the cookie',
  description:
    'Needs no access token, which may have expired. Succeeds without a session as well. For a login at an ' +
    'identity provider, the answer has the page that ends the session there.',
  parameters: [],
  answers: [
    ok('The session has ended here, but continues at the provider.', LOGOUT),
    { status: 204, description: 'The session has ended.' },
  ],
  errors: ['FORBIDDEN'],
  isOpen: true,
  ...via('auth', ['endSession', 'addressOfProviderEnd'], async (auth, request) => {
    const { isTls } = assertSameOrigin(request);
    const token = refreshTokenOf(request, isTls);
    if (token !== undefined) await auth.endSession(request.context, token);
    const kept = providerTextOf(request, isTls);
    const end = kept === undefined ? undefined : await auth.addressOfProviderEnd(request.context, kept);
    const headers = {
      'cache-control': 'no-store',
      'set-cookie': [
        refreshCookie('', { isTls, maxAgeSeconds: 0 }),
        ...(kept === undefined ? [] : [providerCookie('', { isTls })]),
      ],
    };
    if (end === undefined) return { kind: 'empty', status: 204, headers };
    return jsonAnswer(JSON.stringify({ end_session: end }), { headers });
  }),
};

export const BROWSER_AUTH_ROUTES: readonly Route[] = [browserLogin, browserRefresh, browserLogout];

function readLogin({ body }: RestRequest): z.output<typeof loginSchema> {
  const read = loginSchema.safeParse(body);
  if (read.success) return read.data;
  const { path: [member = ''] = [], message = '' } = read.error.issues[0] ?? {};
  const detail = `A login is {"user_name": …, "password": …}: ${message}`;
  throw faultAt('MALFORMED_REQUEST', detail, { detail: message, pointer: `/${String(member)}` });
}

/**
 * Refuses a request that no page of this host has sent. A browser names the page's origin in `Origin`. Newer
 * ones also send `Sec-Fetch-Site`, over TLS and to localhost; it is checked first, because a proxy may have
 * changed `Host`. No page can set either header.
 *
 * @throws FORBIDDEN (403)
 * @see OWASP Cross-Site Request Forgery Prevention Cheat Sheet, "Verifying Origin with Standard Headers"
 */
export function assertSameOrigin({ headers }: Pick<RestRequest, 'headers'>): { readonly isTls: boolean } {
  const origin = single(headers.origin);
  const site = single(headers['sec-fetch-site']);
  if (origin !== undefined && URL.canParse(origin)) {
    const { host, protocol } = new URL(origin);
    const isSame = site === undefined ? host === single(headers.host) : site === 'same-origin';
    if (isSame && (protocol === 'https:' || protocol === 'http:')) return { isTls: protocol === 'https:' };
  }
  throw new ServiceError(
    'FORBIDDEN',
    'This address is only for pages of this host (Origin). Programs use POST /auth.',
  );
}

function refreshTokenOf({ headers }: RestRequest, isTls: boolean): string | undefined {
  const token = readCookie(headers.cookie, { name: COOKIE_NAME, isTls });
  return token !== undefined && REFRESH_TOKEN.test(token) ? token : undefined;
}

function providerTextOf({ headers }: RestRequest, isTls: boolean): string | undefined {
  const kept = readCookie(headers.cookie, { name: PROVIDER_COOKIE_NAME, isTls });
  return kept !== undefined && PROVIDER_TEXT.test(kept) ? kept : undefined;
}

function answerInBrowser(request: RestRequest, login: Login): Answer {
  const { isTls } = assertSameOrigin(request);
  const { refresh_token: _kept, ...body } = tokensOf(login);
  return jsonAnswer(JSON.stringify(body), {
    headers: {
      'cache-control': 'no-store',
      'set-cookie': refreshCookie(login.refreshToken ?? '', {
        isTls,
        maxAgeSeconds: login.refreshTokenTtlSeconds ?? 0,
      }),
    },
  });
}

/** The cookie of a login, sent only to the paths of this file. */
export function refreshCookie(
  token: string,
  { isTls, maxAgeSeconds }: { readonly isTls: boolean; readonly maxAgeSeconds: number },
): string {
  return printCookie({ name: COOKIE_NAME, value: token, isTls, maxAgeSeconds, path: COOKIE_PATH });
}

/** The cookie of a login at an identity provider; '' removes it. */
export function providerCookie(kept: string, { isTls }: { readonly isTls: boolean }): string {
  return printCookie({
    name: PROVIDER_COOKIE_NAME,
    value: kept,
    isTls,
    maxAgeSeconds: kept === '' ? 0 : PROVIDER_COOKIE_SECONDS,
    path: PROVIDER_COOKIE_PATH,
  });
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? undefined : header;
}

/**
 * The cookies of the gateway, which no script can read. Over TLS their names begin with `__Secure-`: browsers
 * accept such a cookie only over TLS, so no one on the network between can replace it.
 *
 * @see RFC 6265bis 4.1.3
 */

interface Cookie {
  readonly name: string;
  readonly isTls: boolean;
}

interface PrintedCookie extends Cookie {
  /** '' removes the cookie, with `maxAgeSeconds` 0. */
  readonly value: string;
  readonly path: string;
  readonly maxAgeSeconds: number;
  /** Default: `Strict`. */
  readonly sameSite?: 'Strict' | 'Lax';
}

type CookieHeader = string | string[] | undefined;

const SECURE = '__Secure-';

/** Prints a `Set-Cookie` header. */
export function printCookie(cookie: PrintedCookie): string {
  return [
    `${nameOf(cookie)}=${cookie.value}`,
    `Path=${cookie.path}`,
    `Max-Age=${cookie.maxAgeSeconds}`,
    'HttpOnly',
    `SameSite=${cookie.sameSite ?? 'Strict'}`,
    ...(cookie.isTls ? ['Secure'] : []),
  ].join('; ');
}

/**
 * Returns the value of a cookie. Two cookies of one name come from two hosts that share a domain, and which
 * one is ours cannot be known; then, and without one, it is `undefined`.
 */
export function readCookie(header: CookieHeader, cookie: Cookie): string | undefined {
  const [value, other] = valuesOf(header, cookie);
  return other === undefined ? value : undefined;
}

function valuesOf(header: CookieHeader, cookie: Cookie): string[] {
  const start = `${nameOf(cookie)}=`;
  const parts = typeof header === 'string' ? header.split(';').map((part) => part.trim()) : [];
  return parts.filter((part) => part.startsWith(start)).map((part) => part.slice(start.length));
}

function nameOf({ name, isTls }: Cookie): string {
  return isTls ? SECURE + name : name;
}
