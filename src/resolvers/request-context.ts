/**
 * The context says who asks, by which request: every front end hands it to a resolver, a value that nobody
 * changes.
 */

import { ServiceError } from '../errors.js';
import type { EndSignal } from '../model/end-signal.js';
import type { Scope } from '../model/scope.js';
import type { Transaction } from '../store/database/database.js';

export interface RequestContext {
  /** `undefined`: the request carried no credential. A wrong one never gets this far. */
  readonly scope: Scope | undefined;
  /** It is also the `instance` of an error and the `requestId` of the log. */
  readonly requestId: string;
  /** The caller's IP address, behind a proxy the one it forwards. */
  readonly address: string;
  /** What the caller says it is, at most 256 characters. */
  readonly userAgent?: string | undefined;
  /** The id of the sub-domain to act in, or at a login of the domain of the user. */
  readonly askedDomain: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** What all root fields of the operation are part of, where it asks for that. */
  readonly transaction?: Transaction | undefined;
  /** Ends the work when the caller has gone. The same one as `scope.signal`. */
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
