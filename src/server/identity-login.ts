/**
 * The addresses by which a browser logs in at a provider of identities: it goes there from `start`, comes
 * back to `callback`, and where the user has a second factor here, its code goes to `code`. In between, what
 * belongs to the login is in an encrypted cookie that no script can read.
 *
 * @see decisions 6, RFC 9700
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator, Login } from '../auth/authenticator.js';
import type { Identity, IdentityProvider, KeptLogin } from '../auth/identity-provider.js';
import type { TextEncryption } from '../auth/text-encryption.js';
import { ServiceError } from '../errors.js';
import { assertSameOrigin, refreshCookie } from '../rest/browser-auth-routes.js';
import type { BodyLimits } from './body-admission.js';
import { useBodyParsing } from './body-parsing.js';
import type { Observe } from './observation.js';
import { addOtherMethods } from './rest.js';

export interface IdentityLoginServices {
  readonly provider: IdentityProvider;
  readonly authenticator: Pick<Authenticator, 'loginByIdentity'>;
  readonly encryption: TextEncryption;
  /** Whether browsers come by TLS, by PUBLIC_URL. */
  readonly isTls: boolean;
}

/** What the log-in page is told in its address, `/?login=…`. */
type Outcome = 'code' | 'stale' | 'refused' | 'unknown' | 'unverified' | 'unreachable';

type Pending =
  | ({ readonly step: 'provider'; readonly domain: string } & KeptLogin)
  | { readonly step: 'code'; readonly domain: string; readonly email: string };

const PATH = '/auth/browser/oidc';
const COOKIE_NAME = 'campus_login';
const COOKIE = new RegExp(`(?:^|;)\\s*${COOKIE_NAME}=([\\w.-]{1,3000})\\s*(?=;|$)`);
const LIFE_SECONDS = 600;
/** The texts of cookies are of no domain. */
const NO_DOMAIN = '';

export async function useIdentityLogin(
  app: FastifyInstance,
  services: IdentityLoginServices,
  { bodies, observe }: { readonly bodies: Pick<BodyLimits, 'maxMembers'>; readonly observe: Observe },
): Promise<void> {
  const pending = new PendingCookie(services);
  await app.register(async (routes) => {
    useBodyParsing(routes, bodies);
    routes.get<{ Querystring: { domain?: unknown } }>(`${PATH}/start`, async (request, reply) => {
      const { domain } = request.query;
      try {
        const { address, kept } = await services.provider.begin();
        const login = {
          step: 'provider',
          domain: typeof domain === 'string' ? domain : '',
          ...kept,
        } as const;
        return redirect(reply.header('set-cookie', pending.print(login)), address.href);
      } catch (error) {
        observe({ kind: 'requestFailed', requestId: request.id, error });
        return redirect(reply, pageFor('unreachable'));
      }
    });

    routes.get(`${PATH}/callback`, async (request, reply) => {
      const login = pending.read(request);
      if (login?.step !== 'provider') return redirect(reply, pageFor('stale'));
      const query = request.url.split('?')[1] ?? '';
      let identity: Identity;
      try {
        identity = await services.provider.finish(query, login);
      } catch (error) {
        observe({ kind: 'requestFailed', requestId: request.id, error });
        return redirect(reply.header('set-cookie', pending.printEnd()), pageFor('refused'));
      }
      const { email, isEmailVerified, hasSecondFactor } = identity;
      if (email === undefined || !isEmailVerified)
        return redirect(reply.header('set-cookie', pending.printEnd()), pageFor('unverified'));
      const { domain } = login;
      try {
        const opened = await logIn(request, { domain, email, hasSecondFactor });
        return redirect(withSession(reply, opened), '/');
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (error.code !== 'SECOND_FACTOR_REQUIRED')
          return redirect(reply.header('set-cookie', pending.printEnd()), pageFor('unknown'));
        return redirect(
          reply.header('set-cookie', pending.print({ step: 'code', domain, email })),
          pageFor('code'),
        );
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
      const opened = await logIn(request, { ...login, hasSecondFactor: false, code });
      return withSession(reply, opened).code(204).send();
    });
  });
  addOtherMethods(app, `${PATH}/start`, ['GET']);
  addOtherMethods(app, `${PATH}/callback`, ['GET']);
  addOtherMethods(app, `${PATH}/code`, ['POST']);

  async function logIn(
    request: FastifyRequest,
    who: {
      readonly domain: string;
      readonly email: string;
      readonly hasSecondFactor: boolean;
      readonly code?: string;
    },
  ): Promise<Login> {
    return await services.authenticator.loginByIdentity({
      domainId: who.domain,
      email: who.email,
      hasSecondFactor: who.hasSecondFactor,
      code: who.code,
      address: request.requestContext.address,
      userAgent: request.headers['user-agent'],
    });
  }

  function withSession(reply: FastifyReply, login: Login): FastifyReply {
    const cookie = refreshCookie(login.refreshToken ?? '', {
      isTls: services.isTls,
      maxAgeSeconds: login.refreshTokenTtlSeconds ?? 0,
    });
    return reply.header('set-cookie', [cookie, pending.printEnd()]);
  }
}

/** Sent back to these addresses alone, also when the browser comes from the provider. */
class PendingCookie {
  readonly #services: Pick<IdentityLoginServices, 'encryption' | 'isTls'>;

  constructor(services: Pick<IdentityLoginServices, 'encryption' | 'isTls'>) {
    this.#services = services;
  }

  print(pending: Pending): string {
    const until = Date.now() + LIFE_SECONDS * 1000;
    const text = this.#services.encryption.encrypt(NO_DOMAIN, JSON.stringify({ ...pending, until }));
    return this.#cookie(text, LIFE_SECONDS);
  }

  printEnd(): string {
    return this.#cookie('', 0);
  }

  /** `undefined`: there is none, it was not printed here, or its time is over. */
  read({ headers }: FastifyRequest): Pending | undefined {
    const text = COOKIE.exec(headers.cookie ?? '')?.[1];
    if (text === undefined) return undefined;
    try {
      const { until, ...pending } = JSON.parse(this.#services.encryption.decrypt(NO_DOMAIN, text));
      return until > Date.now() ? (pending as Pending) : undefined;
    } catch {
      return undefined;
    }
  }

  #cookie(text: string, maxAgeSeconds: number): string {
    return [
      `${COOKIE_NAME}=${text}`,
      `Path=${PATH}`,
      `Max-Age=${maxAgeSeconds}`,
      'HttpOnly',
      // The way back is a link of another site, with which a strict cookie would not be sent.
      'SameSite=Lax',
      ...(this.#services.isTls ? ['Secure'] : []),
    ].join('; ');
  }
}

function pageFor(outcome: Outcome): string {
  return `/?login=${outcome}`;
}

function redirect(reply: FastifyReply, address: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(address, 302);
}
