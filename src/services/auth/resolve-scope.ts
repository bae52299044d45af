/** Determines the domain in which a request acts. */
import { ServiceError } from '../../base/errors.js';
import type { Call } from '../../base/model/call.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Domain, Principal, Scope } from '../../base/model/scope.js';
import type { Domains } from '../../store/catalog/domains.js';

export type DomainDirectory = Pick<Domains, 'find' | 'top' | 'assureKnown'>;

export interface ScopeRequest {
  readonly principal: Principal;
  /**
   * The id of the domain to act in (over HTTP, the header `X-Domain`); absent or empty: the domain of the
   * credential.
   */
  readonly askedDomain: string | undefined;
  readonly requestId: string;
  readonly assertRights?: Call['assertRights'];
  /** Receives what is learned about the request. */
  readonly lifecycle?: {
    readonly signal: EndSignal;
    releasePermit(): void;
    readonly notes: Pick<Call, 'operation' | 'onStatement' | 'onDuration'> & {
      hint(hint: string): void;
      noteWritten(position: string): void;
    };
  };
}

/**
 * The scope of a request: the domain of the credential, or a sub-domain named by an admin of the top domain.
 *
 * Other callers do not learn which domains exist.
 *
 * @throws FORBIDDEN (403) for anyone else who names another domain, whether it exists or not; NOT_FOUND (404)
 *   for an admin of the top domain who names one that does not exist; UNAUTHENTICATED (401) if the
 *   credential's domain no longer exists
 * @see decisions 7
 */
export function resolveScope(domains: Pick<DomainDirectory, 'find'>, request: ScopeRequest): Scope {
  const { principal, requestId, lifecycle } = request;
  const own = domains.find(principal.domainId);
  if (!own) throw new ServiceError('UNAUTHENTICATED', 'The domain of this credential no longer exists.');
  const domain = chooseDomain(domains, own, request);
  return { domain, principal, call: lifecycle ? callOf(request, lifecycle) : { requestId } };
}

/** What is learned while it runs counts for all of it, e.g. the name of its operation. */
function callOf(
  { requestId, assertRights }: ScopeRequest,
  lifecycle: NonNullable<ScopeRequest['lifecycle']>,
): Call {
  const { notes } = lifecycle;
  return {
    requestId,
    assertRights,
    signal: lifecycle.signal,
    get operation() {
      return notes.operation;
    },
    get onStatement() {
      return notes.onStatement;
    },
    get onDuration() {
      return notes.onDuration;
    },
    onHint: (hint) => notes.hint(hint),
    onWait: () => lifecycle.releasePermit(),
    onWritten: (position) => notes.noteWritten(position),
  };
}

function chooseDomain(domains: Pick<DomainDirectory, 'find'>, own: Domain, request: ScopeRequest): Domain {
  const wanted = request.askedDomain?.trim();
  if (wanted === undefined || wanted === '' || wanted === own.id) return own;
  if (own.parentId !== undefined || !request.principal.roles.has('admin'))
    throw new ServiceError(
      'FORBIDDEN',
      'Only an admin of the top domain may act in another domain; leave X-Domain out.',
      { errors: [{ parameter: 'X-Domain', detail: 'This is not the domain of your credential.' }] },
    );
  const domain = domains.find(wanted);
  // Another top domain is not a branch of this one.
  if (domain?.parentId === own.id) return domain;
  throw new ServiceError('NOT_FOUND', `There is no domain "${wanted.slice(0, 64)}".`, {
    errors: [{ parameter: 'X-Domain', detail: 'There is no such domain.' }],
  });
}
