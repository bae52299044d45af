/** The routes that issue and revoke tokens. @see interface 4.1, 5, decisions 6 */
import { type ErrorCode, faultAt, ServiceError } from '../../base/errors.js';
import type { Login } from '../../services/auth/authenticator.js';
import { parseBearer } from '../../services/auth/service-secret.js';
import { invalidParameter } from './parameter-reader.js';
import {
  type Answer,
  BODY_ERRORS,
  inQuery,
  jsonAnswer,
  ok,
  type Parameter,
  parametersBody,
  type RestRequest,
  type Route,
  type Schema,
  via,
} from './route.js';

export const LOGIN: Schema = { $ref: '#/components/schemas/Login' };

export const LOGIN_ERRORS: readonly ErrorCode[] = [
  'MALFORMED_REQUEST',
  'INVALID_VALUE',
  'WRONG_LOGIN',
  'SECOND_FACTOR_REQUIRED',
];

const PARAMETERS: readonly Parameter[] = [
  inQuery('user_name', 'login name', { example: 'viewer' }),
  inQuery('password', 'login password; send it in the body, because addresses are logged', {
    example: 'demo-viewer',
  }),
  inQuery('code', 'the code of the second factor, where the user has one'),
  inQuery('domain', 'the domain of the user; absent: that of X-Domain, else the top domain'),
  inQuery('api_key', 'an API key, in exchange for an access token'),
  inQuery('refresh_token', 'a refresh token, in exchange for new tokens; it is used up'),
  inQuery('grant_type', 'optional: names which of the three is sent', {
    schema: { type: 'string', enum: ['password', 'api_key', 'refresh_token', 'client_credentials'] },
  }),
  inQuery('username', 'user_name under its OAuth 2.0 name; with grant_type=password'),
  inQuery('client_id', 'sent by OAuth 2.0 libraries; any value is accepted'),
  inQuery('client_secret', 'the API key, with grant_type=client_credentials'),
  inQuery('scope', 'sent by OAuth 2.0 libraries, without effect: the user or key determines the rights'),
];

const signIn: Route = {
  name: 'signIn',
  method: 'POST',
  path: '/auth',
  group: 'Credentials',
  summary: 'Get an access token for a user name and password, an API key or a refresh token',
  description:
    'The parameters are sent in the query, as the interface document specifies, or in the body, which is ' +
    'not logged. An API key is sent as `api_key`, a refresh token as `refresh_token`.',
  parameters: PARAMETERS,
  body: parametersBody('The parameters, as JSON or as a form; recommended over the query.', {
    example: { user_name: 'viewer', password: 'demo-viewer' },
  }),
  answers: [ok('The tokens.', LOGIN)],
  errors: [...LOGIN_ERRORS, ...BODY_ERRORS],
  isOpen: true,
  ...via('auth', ['logIn', 'exchangeKey', 'refresh'], async (auth, request) => {
    const grant = readGrant(request);
    switch (grant.kind) {
      case 'password':
        return answerLogin(await auth.logIn(request.context, { ...grant, mayRepeat: true }));
      case 'api_key':
        return answerLogin(await auth.exchangeKey(request.context, grant.key));
      case 'refresh_token':
        return answerLogin(await auth.refresh(request.context, { refreshToken: grant.token }));
    }
  }),
};

const signOut: Route = {
  name: 'signOut',
  method: 'POST',
  path: '/auth/logout',
  group: 'Credentials',
  summary: 'End the session of this access token, on every instance at once',
  description:
    'The access token and the refresh token of the session stop working. A caller without a session, such ' +
    'as an API key, is refused.',
  parameters: [],
  answers: [{ status: 204, description: 'The session has ended.' }],
  errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
  ...via('auth', ['logout'], async (auth, request) => {
    await auth.logout(request.context, {});
    return { kind: 'empty', status: 204 };
  }),
};

export const AUTH_ROUTES: readonly Route[] = [signIn, signOut];

type Grant =
  | {
      readonly kind: 'password';
      readonly userName: string;
      readonly password: string;
      readonly domain: string | undefined;
      readonly code: string | undefined;
    }
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'refresh_token'; readonly token: string };

/** @throws MALFORMED_REQUEST (400) unless the parameters describe exactly one kind of grant */
function readGrant({ parameters, headers }: Pick<RestRequest, 'parameters' | 'headers'>): Grant {
  if (parameters.username !== undefined && parameters.grant_type === undefined) {
    const detail =
      'The parameter username is for OAuth 2.0, with grant_type=password. Without it, send user_name.';
    throw faultAt('MALFORMED_REQUEST', detail, { parameter: 'username' });
  }
  const grants = grantsIn(parameters, parseBearer(String(headers.authorization)));
  const [grant, other] = grants;
  if (!grant || other) {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `Send ${other ? 'one of the three, not several' : 'one of the three'}: user_name with ` +
        'password, api_key, or refresh_token.',
    );
  }
  const { grant_type: wanted } = parameters;
  const kind = wanted === 'client_credentials' ? 'api_key' : wanted;
  if (kind !== undefined && kind !== grant.kind) {
    throw invalidParameter('grant_type', wanted ?? '', `${grant.kind}, to match the other parameters`);
  }
  return grant;
}

/** `held`: the key in the header, where OAuth libraries put the secret of a client. */
function grantsIn(parameters: RestRequest['parameters'], held: string | undefined): Grant[] {
  const { username, user_name: userName = username, password, domain, code } = parameters;
  const { grant_type: wanted, client_secret: secret = held, refresh_token: token } = parameters;
  const key = parameters.api_key ?? (wanted === 'client_credentials' ? secret : undefined);
  const grants: Grant[] = [];
  if (userName !== undefined || password !== undefined) {
    if (!userName) throw missing('user_name');
    if (!password) throw missing('password');
    grants.push({ kind: 'password', userName, password, domain: domain || undefined, code });
  }
  if (key !== undefined) grants.push({ kind: 'api_key', key });
  if (token !== undefined) grants.push({ kind: 'refresh_token', token });
  return grants;
}

function answerLogin(login: Login): Answer {
  return jsonAnswer(JSON.stringify(tokensOf(login)), { headers: { 'cache-control': 'no-store' } });
}

/** The answer to a login, with the names of OAuth 2.0. @see RFC 6749 5.1 */
export function tokensOf(login: Login) {
  return {
    access_token: login.accessToken,
    token_type: 'Bearer',
    expires_in: login.expiresInSeconds,
    refresh_token: login.refreshToken,
    user: {
      _id: login.user.id,
      user_name: login.user.userName,
      name: login.user.name,
      roles: login.user.roles,
      domain: login.user.domain,
    },
  };
}

function missing(parameter: string): ServiceError {
  const detail = `The parameter ${parameter} is missing: user_name and password belong together.`;
  return faultAt('MALFORMED_REQUEST', detail, { parameter });
}
