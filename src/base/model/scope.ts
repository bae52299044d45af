/**
 * The scope: the caller, the domain and the call. It is the first argument of every method of the store and
 * the reports.
 */

import type { JsonValue } from '../json/json.js';
import type { Call } from './call.js';

/**
 * A tenant. `timeZone` is an IANA name: days and months of its records are those of this zone. `callingCode`
 * is that of telephone numbers without one. The books are closed until a day, itself included.
 */
export interface Domain {
  readonly id: string;
  readonly name: string;
  readonly parentId: string | undefined;
  readonly timeZone: string;
  readonly callingCode?: string | undefined;
  readonly booksClosedUntil?: string | undefined;
  /** The month a session starts in, 1–12. Default: April. */
  readonly sessionFirstMonth?: number | undefined;
}

/** The top domain that a domain is, or is a branch of. */
export function topDomainIdOf({ id, parentId }: Pick<Domain, 'id' | 'parentId'>): string {
  return parentId ?? id;
}

export type RecordVerb = 'read' | 'create' | 'update' | 'delete';

/** The part of its user's rights that an API key has. `collections` maps a name, or `*`, to verbs. */
export interface KeyScopes {
  readonly collections: Readonly<Record<string, readonly RecordVerb[]>>;
  /** Report names, or `*`. */
  readonly reports: readonly string[];
  /** Script names, or `*`. */
  readonly scripts: readonly string[];
  /** Whether it may change the accounts of users, if the user may. No `*` includes this. */
  readonly accounts?: boolean | undefined;
}

/** The credential that authenticated a caller. */
export interface Credential {
  readonly kind: 'token' | 'key' | 'system';
  readonly id: string;
  /** The part of the rights that a token has of the session or key whose `id` it has. */
  readonly part?: string | undefined;
}

/**
 * A caller whose credential was checked. A task of the service itself is a principal too (`kind: 'system'`),
 * with the roles it needs.
 */
export interface Principal {
  readonly kind: 'user' | 'system';
  /** `_id` of the caller's `pltf_user` record; the task's name for a system principal. */
  readonly id: string;
  readonly userName: string;
  /** The domain the credential belongs to. */
  readonly domainId: string;
  readonly roles: ReadonlySet<string>;
  readonly credential: Credential;
  /** Present for API keys: the rights are those of the roles and of these scopes both. */
  readonly scopes: KeyScopes | undefined;
  /** Values for row rules, e.g. `sectionsTaught: [["5","A"]]` (granted by a collection's declaration). */
  readonly attributes: Readonly<Record<string, readonly (readonly JsonValue[])[]>>;
}

/** The user, key or task of work that continues after the check of its rights; stored as JSON. */
export interface WorkPrincipal extends Pick<Principal, 'kind' | 'id' | 'domainId' | 'credential'> {
  /** The most that the work may have. Default: all that the user or key has now. */
  readonly roles?: readonly string[] | undefined;
  readonly scopes?: KeyScopes | undefined;
}

/** For work that may have at most the rights of this moment. */
export function toWorkPrincipal(principal: Principal): WorkPrincipal {
  const { kind, id, domainId, roles, scopes } = principal;
  const { part: _, ...credential } = principal.credential;
  return { kind, id, domainId, credential, roles: [...roles], scopes };
}

/** The scopes of a session whose user still lacks a required second factor. */
export const SECOND_FACTOR_ALONE: KeyScopes = { collections: {}, reports: [], scripts: [] };

export function lacksSecondFactor({ scopes }: Pick<Principal, 'scopes'>): boolean {
  return scopes === SECOND_FACTOR_ALONE;
}

/** The user, whatever the credential: a limit that counts by this name cannot be multiplied by more keys. */
export function callerName({ domainId, id }: Pick<Principal, 'domainId' | 'id'>): string {
  return `${domainId}/${id}`;
}

/**
 * Distinguishes credentials, also those with different parts of the same rights: the answers of one must not
 * be given to another.
 */
export function credentialName({ kind, id, part }: Credential): string {
  return part === undefined ? `${kind}:${id}` : `${kind}:${id}/${part}`;
}

/** Who asks, where, and in which call. */
export interface Scope {
  readonly domain: Domain;
  readonly principal: Principal;
  readonly call: Call;
}

/** The same caller in a part of the call that differs, e.g. by its signal. */
export function withCall(scope: Scope, change: Partial<Call>): Scope {
  return { ...scope, call: { ...scope.call, ...change } };
}

/**
 * The principal of a task of the service itself, e.g. `systemPrincipal('purge', ['admin'])`. It has the roles
 * given and nothing else: there is no principal that may do everything because it is ours.
 */
export function systemPrincipal(task: string, roles: readonly string[], domainId = ''): Principal {
  return {
    kind: 'system',
    id: task,
    userName: task,
    domainId,
    roles: new Set(roles),
    credential: { kind: 'system', id: task },
    scopes: undefined,
    attributes: {},
  };
}
