/** The context of a request: its caller and options. Every front end passes an immutable one to resolvers. */

import { ServiceError } from '../../base/errors.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Scope } from '../../base/model/scope.js';
import type { Transaction } from '../../store/database/queryable.js';

export interface RequestContext {
  /** `undefined`: the request has no credential. One with a wrong credential never gets this far. */
  readonly scope: Scope | undefined;
  /** Also the `instance` of an error and the `requestId` in the log. */
  readonly requestId: string;
  /** The caller's IP address; behind a proxy, the forwarded one. */
  readonly address: string;
  /** The caller's User-Agent, at most 256 characters. */
  readonly userAgent?: string | undefined;
  /** The id of the sub-domain to act in; for a login, the domain of the user. */
  readonly askedDomain: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The transaction of all root fields, if the operation has `@transaction`. */
  readonly transaction?: Transaction | undefined;
  /** Aborts the work when the caller has gone. The same signal as `scope.call.signal`. */
  readonly signal: EndSignal;
}

/** @throws UNAUTHENTICATED (401) for a request without a credential. */
export function requireScope(context: RequestContext): Scope {
  if (context.scope) return context.scope;
  throw credentialNeeded();
}

export function credentialNeeded(): ServiceError {
  return new ServiceError(
    'UNAUTHENTICATED',
    'Send an access token or an API key: Authorization: Bearer <token>.',
  );
}
