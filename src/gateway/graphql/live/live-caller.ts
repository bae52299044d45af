/**
 * The caller of a connection that stays open. Rights are checked again for every event, because roles change
 * and tokens expire.
 */
import { ServiceError } from '../../../base/errors.js';
import type { Principal, Scope } from '../../../base/model/scope.js';
import { type DomainDirectory, resolveScope } from '../../../services/auth/resolve-scope.js';
import { parseBearer } from '../../../services/auth/service-secret.js';

export interface LiveCallerOptions {
  readonly authenticator: { authenticate(bearer: string, address: string): Promise<Principal> };
  readonly domains: DomainDirectory;
}

export interface LiveCredential {
  /** The value of `Authorization`: `Bearer <token or key>`. */
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
   * The caller with its current rights; the principal is the same object until something about it changes.
   * Usually without a round trip.
   *
   * @throws UNAUTHENTICATED (401) if there is no credential, or it has ended; FORBIDDEN, NOT_FOUND for the
   *   domain; UNAVAILABLE
   */
  async scope(): Promise<Scope> {
    const { authorization, askedDomain, requestId, address } = this.#credential;
    const bearer = bearerOf(authorization);
    const principal = await this.#options.authenticator.authenticate(bearer, address);
    await this.#options.domains.assureKnown(principal.domainId, askedDomain?.trim());
    return resolveScope(this.#options.domains, { principal, askedDomain, requestId });
  }
}

/** Whether an error means that the caller must go, as opposed to a temporary failure to check. */
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
