/**
 * Knows who is at the other end of a connection that stays: it is asked again for everything that is sent
 * there, because rights change and tokens end.
 */
import { parseBearer } from '../../auth/parse-bearer.js';
import { type DomainDirectory, resolveScope } from '../../auth/resolve-scope.js';
import { ServiceError } from '../../errors.js';
import type { Principal, Scope } from '../../model/scope.js';

export interface LiveCallerOptions {
  readonly authenticator: { authenticate(bearer: string, address: string): Promise<Principal> };
  readonly domains: DomainDirectory;
}

export interface LiveCredential {
  /** What stood in `Authorization`: `Bearer <token or key>`. */
  readonly authorization: string | undefined;
  readonly askedDomain: string | undefined;
  readonly requestId: string;
  /** The IP address of the caller. */
  readonly address: string;
}

export class LiveCaller {
  readonly #options: LiveCallerOptions;
  readonly #credential: LiveCredential;

  constructor(options: LiveCallerOptions, credential: LiveCredential) {
    this.#options = options;
    this.#credential = credential;
  }

  /**
   * The caller with the rights of this moment; the principal is the same object until something about it
   * changes. No round trip in most cases.
   *
   * @throws UNAUTHENTICATED (401) when there is no credential, or it has ended; FORBIDDEN, NOT_FOUND for the
   * domain; UNAVAILABLE
   */
  async scope(): Promise<Scope> {
    const { authorization, askedDomain, requestId, address } = this.#credential;
    const bearer = bearerOf(authorization);
    const principal = await this.#options.authenticator.authenticate(bearer, address);
    await this.#options.domains.assureKnown(principal.domainId, askedDomain?.trim());
    return resolveScope(this.#options.domains, { principal, askedDomain, requestId });
  }
}

/** Whether an error means that the caller may not stay, and not that it cannot be told at the moment. */
export function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status < 500;
}

function bearerOf(authorization: string | undefined): string {
  const bearer = parseBearer(authorization);
  if (bearer !== undefined) return bearer;
  throw new ServiceError(
    'UNAUTHENTICATED',
    'connection_init needs a credential: {"Authorization": "Bearer <token or API key>"}.',
  );
}
