/**
 * The routes by which a browser logs in at an identity provider. `start` sends it there, it returns to
 * `callback`, and a user with a second factor then sends its code to `code`. In between, the state of the
 * login is in an encrypted cookie that no script can read.
 *
 * @see decisions 6, RFC 9700
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError, tryTo } from '../../../base/errors.js';
import type { Authenticator, IdentityAttempt, Login } from '../../../services/auth/authenticator.js';
import {
  type Identity,
  type IdentityProvider,
  isProviderAway,
  type KeptLogin,
} from '../../../services/auth/identity-provider.js';
import type { TextEncryption } from '../../../services/auth/text-encryption.js';
import type { Config } from '../../config/config.js';
import {
  assertSameOrigin,
  printCookie,
  providerCookie,
  readCookie,
  refreshCookie,
} from '../../rest/browser-auth-routes.js';
import type { Observe } from '../observation/observation.js';
import { useBodyParsing } from '../sending/body-parsing.js';

export interface IdentityLoginServices {
  readonly provider: IdentityProvider;
  readonly authenticator: Pick<Authenticator, 'loginByIdentity'>;
  readonly encryption: TextEncryption;
  /** Whether browsers connect by TLS, according to PUBLIC_URL. */
  readonly isTls: boolean;
}

/** The result, which the log-in page receives in its address as `?login=…`. */
type Outcome = 'code' | 'stale' | 'refused' | 'unknown' | 'unverified' | 'unreachable';

/** `to` is our page that was requested first. */
type Pending = { readonly domain: string; readonly to: string } & (
  | ({ readonly step: 'provider' } & KeptLogin)
  | { readonly step: 'code'; readonly email: string }
);

const PATH = '/auth/browser/oidc';
const COOKIE_NAME = 'campus_login';
const LIFE_SECONDS = 600;
/** It must fit into the cookie with everything else. */
const LONGEST_PAGE = 1000;
const NO_HOST = 'http://page.invalid';
/** The texts in cookies belong to no domain. */
const NO_DOMAIN = '';

export async function useIdentityLogin(
  app: FastifyInstance,
  services: IdentityLoginServices,
  { config, observe }: { readonly config: Pick<Config, 'bodyMaxMembers'>; readonly observe: Observe },
): Promise<void> {
  const pending = createPendingCookie(services);
  await app.register(async (routes) => {
    useBodyParsing(routes, config);
    routes.get<{ Querystring: { domain?: unknown; to?: unknown } }>(
      `${PATH}/start`,
      async (request, reply) => {
        const { domain } = request.query;
        const to = ownPage(request.query.to);
        try {
          const { address, kept } = await services.provider.begin();
          const login = {
            step: 'provider',
            domain: typeof domain === 'string' ? domain : '',
            to,
            ...kept,
          } as const;
          return redirect(reply.header('set-cookie', pending.print(login)), address.href);
        } catch (error) {
          observe({ kind: 'requestFailed', requestId: request.id, error });
          return redirect(reply, pageFor('unreachable', to));
        }
      },
    );

    routes.get(`${PATH}/callback`, async (request, reply) => {
      const login = pending.read(request);
      if (login?.step !== 'provider') return redirect(reply, pageFor('stale', '/'));
      const { domain, to } = login;
      const endAt = (outcome: Outcome) =>
        redirect(reply.header('set-cookie', pending.printEnd()), pageFor(outcome, to));
      const query = request.url.split('?')[1] ?? '';
      let identity: Identity;
      try {
        identity = await services.provider.finish(query, login);
      } catch (error) {
        observe({ kind: 'requestFailed', requestId: request.id, error });
        return endAt(isProviderAway(error) ? 'unreachable' : 'refused');
      }
      const { email, isEmailVerified, hasSecondFactor, idToken } = identity;
      if (email === undefined || !isEmailVerified) return endAt('unverified');
      const kept = providerCookie(services.provider.keep(idToken), services);
      try {
        const opened = await logIn(request, { domainId: domain, email, hasSecondFactor });
        return redirect(withSession(reply.header('set-cookie', kept), opened), to);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.code !== 'SECOND_FACTOR_REQUIRED') return endAt('unknown');
        const next = pending.print({ step: 'code', domain, to, email });
        return redirect(reply.header('set-cookie', [kept, next]), pageFor('code', to));
      }
    });

    routes.post<{ Body: { code?: unknown } | null | undefined }>(`${PATH}/code`, async (request, reply) => {
      assertSameOrigin(request);
      const login = pending.read(request);
      const code = request.body?.code;
      if (typeof code !== 'string')
        throw new ServiceError('MALFORMED_REQUEST', 'A code is sent as {"code": "…"}.');
      if (login?.step !== 'code')
        throw new ServiceError('UNAUTHENTICATED', 'This login has taken too long. Begin it again.');
      const opened = await logIn(request, {
        domainId: login.domain,
        email: login.email,
        hasSecondFactor: false,
        code,
      });
      return withSession(reply, opened).code(204).send();
    });
  });

  async function logIn(
    request: FastifyRequest,
    who: Pick<IdentityAttempt, 'domainId' | 'email' | 'hasSecondFactor' | 'code'>,
  ): Promise<Login> {
    const { id: requestId, headers, requestContext } = request;
    const origin = { address: requestContext.address, userAgent: headers['user-agent'], requestId };
    return await services.authenticator.loginByIdentity({ ...who, ...origin });
  }

  function withSession(reply: FastifyReply, login: Login): FastifyReply {
    const cookie = refreshCookie(login.refreshToken ?? '', {
      isTls: services.isTls,
      maxAgeSeconds: login.refreshTokenTtlSeconds ?? 0,
    });
    return reply.header('set-cookie', [cookie, pending.printEnd()]);
  }
}

/** A cookie for these routes only, which must also be sent when the browser comes from the provider. */
function createPendingCookie({ encryption, isTls }: Pick<IdentityLoginServices, 'encryption' | 'isTls'>) {
  // The provider's redirect is a cross-site navigation, with which a strict cookie would not be sent.
  const cookie = (value: string, maxAgeSeconds: number) =>
    printCookie({ name: COOKIE_NAME, value, path: PATH, maxAgeSeconds, isTls, sameSite: 'Lax' });
  return {
    print: (pending: Pending) => {
      const until = Date.now() + LIFE_SECONDS * 1000;
      return cookie(encryption.encrypt(NO_DOMAIN, JSON.stringify({ ...pending, until })), LIFE_SECONDS);
    },
    printEnd: () => cookie('', 0),
    /** `undefined` if it is missing, was not issued here, or has expired. */
    read: ({ headers }: FastifyRequest): Pending | undefined => {
      const text = readCookie(headers.cookie, { name: COOKIE_NAME, isTls });
      if (text === undefined) return undefined;
      const { until, ...pending } = tryTo(() => JSON.parse(encryption.decrypt(NO_DOMAIN, text))) ?? {};
      return until > Date.now() ? (pending as Pending) : undefined;
    },
  };
}

/** The path of a page on this host, else `/`: an open redirect must not be possible. */
function ownPage(page: unknown): string {
  if (typeof page !== 'string' || page.length > LONGEST_PAGE || !page.startsWith('/')) return '/';
  // Parsed as a browser does, which takes `//` and `/\` as the beginning of another host.
  if (!URL.canParse(page, NO_HOST)) return '/';
  const { origin, pathname, search } = new URL(page, NO_HOST);
  return origin === NO_HOST && !pathname.startsWith('//') ? pathname + search : '/';
}

/** The requested page, with the outcome for the log-in form in front of it. */
function pageFor(outcome: Outcome, page: string): string {
  const address = new URL(page, NO_HOST);
  address.searchParams.set('login', outcome);
  return address.pathname + address.search;
}

function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(address, 302);
}
