/** The door to credentials: login, tokens, passwords, API keys. GraphQL and REST both call these methods. */
import { invalidAt } from '../../../base/errors.js';
import type { KeyScopes, RecordVerb } from '../../../base/model/scope.js';
import {
  enumType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import type { ApiKeys } from '../../../services/auth/api-keys.js';
import type { Authenticator, LoginAttempt } from '../../../services/auth/authenticator.js';
import type { IdentityProvider } from '../../../services/auth/identity-provider.js';
import type { RequestContext } from '../request-context.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';

const KeyVerb = enumType<RecordVerb>('KeyVerb', 'What an API key may do with records.', {
  read: 'Read records, and subscribe to their changes.',
  create: 'Make new records.',
  update: 'Change and replace records.',
  delete: 'Remove records.',
});

const KeyPreset = enumType(
  'KeyPreset',
  'Common scopes of API keys, each limited by the rights of its user.',
  {
    READ_ONLY: 'Read the records of every collection, and run every report.',
    READ_WRITE:
      'Read and write the records of every collection, and run every report. Accounts are not included: ' +
      'see `accounts`.',
    REPORTS: 'Run every report, and nothing else.',
  },
);
type KeyPreset = ValueOf<typeof KeyPreset>;

const KeyCollectionInput = inputType(
  'KeyCollectionInput',
  'What an API key may do with the records of a collection.',
  {
    collection: member.text('The collection, e.g. "attendance"; "*": every one.'),
    verbs: member.list(KeyVerb, 'At least one.'),
  },
);

const KeyAccessInput = inputType(
  'KeyAccessInput',
  'The scopes of an API key: those of a preset, and those listed in addition.',
  {
    preset: nullable.of(KeyPreset, 'The preset to start from.'),
    collections: nullable.list(KeyCollectionInput, 'Collections, each with its verbs.'),
    reports: nullable.texts('Reports by their names; "*": every one.'),
    scripts: nullable.texts('Scripts by their names; "*": every one.'),
    accounts: nullable.flag(
      'Whether the key of an admin may change accounts: user names, email addresses, roles, and who may ' +
        'log in. Such a key can make admins. No preset and no "*" includes it. Default: false.',
    ),
  },
);
type KeyAccessInput = ValueOf<typeof KeyAccessInput>;

const EVERY_VERB: readonly RecordVerb[] = Object.values(KeyVerb);

const SCOPES_OF_PRESETS: Readonly<Record<KeyPreset, KeyScopes>> = {
  READ_ONLY: { collections: { '*': ['read'] }, reports: ['*'], scripts: [] },
  READ_WRITE: { collections: { '*': EVERY_VERB }, reports: ['*'], scripts: [] },
  REPORTS: { collections: {}, reports: ['*'], scripts: [] },
};

/** Converts to the form of `scopes`, not validated yet. */
function scopesOfAccess({ preset, collections, reports, scripts, accounts }: KeyAccessInput): KeyScopes {
  const given = preset == null ? undefined : SCOPES_OF_PRESETS[preset];
  const verbs = new Map<string, readonly RecordVerb[]>(Object.entries(given?.collections ?? {}));
  for (const { collection, verbs: more } of collections ?? [])
    verbs.set(collection, [...new Set([...(verbs.get(collection) ?? []), ...more])]);
  return {
    collections: Object.fromEntries(verbs),
    reports: [...(given?.reports ?? []), ...(reports ?? [])],
    scripts: [...(given?.scripts ?? []), ...(scripts ?? [])],
    ...(accounts === true && { accounts }),
  };
}

const LoginUser = objectType('User', 'The user of a credential.', {
  id: member.id('The id of the record in `pltf_user`.'),
  userName: member.text('The login name.'),
  name: member.text('The full name.'),
  roles: member.texts('The roles of the user, e.g. "teacher".'),
  domain: member.text('The id of the domain the credential belongs to.'),
});

const LoginResult = objectType('Login', 'A pair of tokens.', {
  accessToken: member.text('Send it with every request: `Authorization: Bearer <accessToken>`.'),
  expiresInSeconds: member.whole('How long the access token lives. Unit: seconds.'),
  refreshToken: nullable.text('Gives a new pair of tokens, once. Null for an API key that was exchanged.'),
  user: member.of(LoginUser, 'The user of the tokens.'),
});

const ApiKeyResult = objectType('ApiKey', 'An API key as its owner sees it: never the key itself.', {
  id: member.id('Names the key, e.g. to revoke it.'),
  name: member.text('The name that its owner gave it.'),
  prefix: member.text('The beginning of the key, to recognize it by.'),
  userId: member.id('The user it acts as.'),
  scopes: member.anyJson(
    'Its scope: {collections: {name or *: [verbs]}, reports: [names], scripts: [names]}.',
  ),
  createdBy: member.id('The user who made it.'),
  createdAt: member.instant('When it was made.'),
  expiresAt: nullable.instant('When it stops working; null: never.'),
  lastUsedAt: nullable.instant('When it was last used, to the minute.'),
  lastUsedAddress: nullable.text('The IP address of its last use; null if unknown.'),
  allowedAddresses: member.texts('The addresses and networks it may be used from; empty: from everywhere.'),
  replaces: nullable.id('The key that this one replaces, by `rotateApiKey`.'),
  revokedAt: nullable.instant('When it was revoked; null while it works.'),
});

const NewApiKeyResult = objectType('NewApiKey', 'An API key that was just made.', {
  id: member.id('Names the key, e.g. to revoke it.'),
  key: member.text('The key. It is shown here and never again.'),
});

const CreateApiKeyInput = inputType('CreateApiKeyInput', 'The name and scope of a new API key.', {
  name: member.text('Its name, 1 to 100 characters.'),
  access: nullable.of(
    KeyAccessInput,
    'What it may do, within your own rights. Either this or `scopes` is required.',
  ),
  scopes: nullable.anyJson(
    'The same as JSON: {collections: {"attendance": ["read"], "*": ["read"]}, ' +
      'reports: ["fee-defaulters"], scripts: []}.',
  ),
  userId: nullable.id('The user it acts as; left out: you. Another one only for admins.'),
  expiresAt: nullable.isoInstant('When it stops working; left out: never.'),
  allowedAddresses: nullable.texts(
    'The addresses and networks it may be used from, e.g. ["203.0.113.7", "2001:db8::/32"], at most 50; ' +
      'left out: from everywhere.',
  ),
});

/** `domain` absent: the domain of the `X-Domain` header, else the top domain. */
export interface LoginRequest extends Pick<LoginAttempt, 'userName' | 'password' | 'code' | 'mayRepeat'> {
  readonly domain?: string | undefined;
}

interface AuthServices {
  readonly authenticator: Authenticator;
  readonly apiKeys: ApiKeys;
  readonly identityProvider: Pick<IdentityProvider, 'addressOfEnd'> | undefined;
}

export const AuthResolver = serviceResolver(
  ({ query, mutation, done, openMutation }: FieldRows<AuthServices>) => ({
    /** A new pair of tokens for a refresh token, which is used up. @throws UNAUTHENTICATED */
    refresh: openMutation(
      member.of(
        LoginResult,
        'Exchanges a refresh token for a new pair of tokens. A refresh token works once: ' +
          'using it twice ends the session.',
      ),
      { refreshToken: member.text('From `login` or the last `refresh`.') },
      ({ authenticator }, context, { refreshToken }) => authenticator.refresh(refreshToken, context),
    ),
    /** Ends the caller's session on every instance at once. */
    logout: done(
      'Ends your session: its tokens stop working at once.',
      {},
      ({ authenticator }, scope, _sent, { context }) => authenticator.logout(scope.principal, context),
    ),
    revokeApiKey: done(
      'Revokes an API key. Revoking it again is not an error.',
      { id: member.id('The id of the key.') },
      ({ apiKeys }, scope, { id }) => apiKeys.revoke(scope, id),
    ),
    apiKeys: query(
      member.list(
        ApiKeyResult,
        'Your API keys, the newest first; for an admin all of the domain. Revoked ones included.',
      ),
      {},
      ({ apiKeys }, scope) => apiKeys.list(scope),
    ),
    login: openMutation(
      member.of(
        LoginResult,
        'Tokens for a user name and password. Needs no credential. Errors: WRONG_LOGIN, ' +
          'SECOND_FACTOR_REQUIRED, TOO_MANY_REQUESTS.',
      ),
      {
        userName: member.text('The login name.'),
        password: member.text('The password.'),
        domain: nullable.text(
          'The id of the domain of the user; left out: that of the header X-Domain, else the top domain.',
        ),
        code: nullable.text(
          'The code of the second factor, or a recovery code. Required after the error ' +
            'SECOND_FACTOR_REQUIRED.',
        ),
      },
      (services, context, sent) => logIn(services, context, sent),
    ),
    changePassword: done(
      'Sets a new password. All of your sessions end. Errors: WRONG_LOGIN when the old one is wrong.',
      { oldPassword: member.text('The current password.'), newPassword: member.text('The new password.') },
      ({ authenticator }, { principal }, { oldPassword, newPassword }, { context }) =>
        authenticator.changePassword(principal, oldPassword, newPassword, context.requestId),
    ),
    createApiKey: mutation(
      member.of(
        NewApiKeyResult,
        'Registers an API key. The answer is the only place where the key is ever shown.',
      ),
      { data: member.of(CreateApiKeyInput, 'Its name and scope.') },
      ({ apiKeys }, scope, { data: { access, scopes, expiresAt, ...data } }) =>
        apiKeys.create(scope, {
          ...given(data),
          scopes: scopesOf({ access, scopes }),
          expiresAt: toInstant(expiresAt),
        }),
    ),
    rotateApiKey: mutation(
      member.of(
        NewApiKeyResult,
        'Creates a key that replaces another one, with the same name, scopes, addresses and ' +
          'expiry. The old key keeps working for `overlapSeconds`. Errors: NOT_FOUND for a key ' +
          'that is not yours or has ended, INVALID_VALUE.',
      ),
      {
        id: member.id('The key to replace.'),
        overlapSeconds: nullable.whole(
          'How long the old key keeps working, 0 to 2592000 (30 days). Default: 0, it ends at once.',
        ),
      },
      ({ apiKeys }, scope, { id, overlapSeconds }) => apiKeys.rotate(scope, id, overlapSeconds ?? 0),
    ),

    /** For REST, like the functions below. @throws WRONG_LOGIN, TOO_MANY_REQUESTS */
    logIn,
    /** An access token for an API key. @throws UNAUTHENTICATED */
    exchangeKey: ({ authenticator }: AuthServices, context: RequestContext, key: string) =>
      authenticator.exchangeKey(key, context.address),
    /** The next tokens for a refresh token that the tabs of a browser share. @throws UNAUTHENTICATED */
    refreshInBrowser: ({ authenticator }: AuthServices, context: RequestContext, refreshToken: string) =>
      authenticator.refresh(refreshToken, context, 'browser'),
    /** Ends the session of a refresh token; an unknown token is not an error. */
    endSession: ({ authenticator }: AuthServices, context: RequestContext, refreshToken: string) =>
      authenticator.endSession(refreshToken, context),
    /**
     * The address at which the browser ends its session at the identity provider, given its cookie of the
     * login; `undefined` if the provider has no such address.
     */
    addressOfProviderEnd: async (
      { identityProvider }: AuthServices,
      _context: RequestContext,
      kept: string,
    ) => await identityProvider?.addressOfEnd(kept),
  }),
);

function logIn(
  { authenticator }: AuthServices,
  context: RequestContext,
  { domain, ...attempt }: LoginRequest,
) {
  const domainId = domain ?? context.askedDomain;
  const { address, userAgent, requestId } = context;
  return authenticator.login({
    ...{ ...attempt, address, userAgent, requestId },
    ...(domainId !== undefined && { domainId }),
  });
}

/** @throws INVALID_VALUE (400) unless exactly one of the two is given */
function scopesOf({
  access,
  scopes,
}: {
  readonly access?: KeyAccessInput | null | undefined;
  readonly scopes?: unknown;
}): unknown {
  const hasAccess = access !== undefined && access !== null;
  const hasScopes = scopes !== undefined && scopes !== null;
  if (hasAccess !== hasScopes) return hasAccess ? scopesOfAccess(access) : scopes;
  const detail = 'Pass exactly one of `access` and `scopes`.';
  throw invalidAt(detail, { pointer: '/access', expected: 'e.g. {preset: READ_ONLY}' });
}

function toInstant(written: string | null | undefined): Date | undefined {
  if (written === null || written === undefined) return undefined;
  if (written.includes('T')) return new Date(written);
  const detail = 'expiresAt is an instant such as "2027-04-01T00:00:00Z", not a bare day.';
  throw invalidAt(detail, { parameter: 'expiresAt', sent: written });
}
