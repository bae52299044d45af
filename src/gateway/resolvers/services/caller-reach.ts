/**
 * The services, collections and reports in a caller's reach, as data: openapi.json, the shown GraphQL schema
 * and the tools of agents are made from it. Nothing is refused here: the services and the store do that, and
 * a contract test compares the two for every root field.
 */
import { hash } from 'node:crypto';
import type { Field } from '../../../base/model/collection.js';
import { lacksSecondFactor, type RecordVerb, type Scope } from '../../../base/model/scope.js';
import type { Report } from '../../../school/reports/engine/report.js';
import type { DeclaringScript, Scripts } from '../../../services/scripting/library/scripts.js';
import {
  type CollectionInReach,
  findAccess,
  isAdmin,
  isTopDomainAdmin,
  listCollectionsInReach,
  mayManageAccounts,
} from '../../../store/access/access.js';
import { mayRun, type RightsSources } from './caller-rights.js';

export interface CallerReach {
  readonly reports: readonly Report[];
  readonly collections: readonly CollectionInReach[];
  /** The services that are not for everybody. */
  readonly services: ReadonlySet<ServiceName>;
  /** The scripts whose declared fields are the caller's to use. */
  readonly scripts: readonly DeclaringScript[];
  /** Callers with the same reach have the same key. */
  readonly key: string;
}

interface MayHave {
  mayHave(scope: Scope): boolean;
}

export interface ReachSources extends Pick<RightsSources, 'catalog' | 'reports' | 'domains'> {
  readonly apiKeys: MayHave;
  readonly webhooks: MayHave;
  readonly imports: { readonly rights: MayHave };
  readonly messages: { mayEmail(scope: Scope): boolean };
  readonly receipts: { mayRecord(scope: Scope): boolean };
  readonly scripts: Pick<Scripts, 'declaringFor'>;
}

type Test = (scope: Scope, sources: ReachSources) => boolean;

const isTopAdmin: Test = (scope, { domains }) => isTopDomainAdmin(scope, domains.top());
const hasSession: Test = ({ principal: { kind, credential, scopes } }) =>
  kind === 'user' && credential.kind === 'token' && scopes === undefined;

/** Each test is the one by which the service itself refuses a caller. */
const SERVICES = {
  /** Also a session that is limited until its user has set up a second factor. */
  ownSession: ({ principal }) =>
    principal.credential.kind === 'token' && (principal.scopes === undefined || lacksSecondFactor(principal)),
  session: hasSession,
  keys: (scope, sources) =>
    hasSession(scope, sources) && (isAdmin(scope.principal) || sources.apiKeys.mayHave(scope)),
  accounts: mayManageAccounts,
  administration: ({ principal }) => isAdmin(principal),
  topAdministration: isTopAdmin,
  collections: (scope, sources) =>
    isTopAdmin(scope, sources) ||
    (scope.domain.parentId === undefined && isTopDomainAdmin(scope, scope.domain)),
  webhooks: (scope, { webhooks }) => webhooks.mayHave(scope),
  imports: (scope, { imports }) => imports.rights.mayHave(scope),
  email: (scope, { messages }) => messages.mayEmail(scope),
  receipts: (scope, { receipts }) => receipts.mayRecord(scope),
  /** Callers without a role of FILE_ROLES have the files of records that they may change. */
  files: (scope, sources) =>
    hasSession(scope, sources) || sources.catalog.list().some((one) => findAccess(scope, one, 'update')),
  reports: (scope, { reports }) => reports.some((report) => mayRun(scope, report)),
} satisfies Readonly<Record<string, Test>>;
type ServiceName = keyof typeof SERVICES;

export function callerReach(scope: Scope, sources: ReachSources): CallerReach {
  return withKey({
    reports: sources.reports.filter((report) => mayRun(scope, report)),
    collections: listCollectionsInReach(sources.catalog, scope),
    scripts: sources.scripts.declaringFor(scope),
    services: new Set(
      (Object.keys(SERVICES) as ServiceName[]).filter((name) => SERVICES[name](scope, sources)),
    ),
  });
}

export function withKey(reach: Omit<CallerReach, 'key'>): CallerReach {
  const { reports, collections, services, scripts } = reach;
  const fieldsOf = (fields: readonly Field[] | undefined) =>
    fields?.map(({ name, targets }) => [name, targets]) ?? null;
  const facts = JSON.stringify([
    reports.map(({ name }) => name),
    [...services],
    scripts.map(({ domainId, name, version }) => [domainId, name, version]),
    collections.map(({ collection, readable, creatable, updatable, mayDelete }) => [
      [collection.name, collection.version, collection.domainId, mayDelete],
      [fieldsOf(readable), fieldsOf(creatable), fieldsOf(updatable)],
    ]),
  ]);
  return { ...reach, key: hash('sha256', facts, 'base64') };
}

/**
 * The right that a field or type needs: a service, a report, a script with a field, or verbs for the records
 * of a collection. Without a name, one collection with the verbs is enough; without verbs, any right to it.
 */
export type NeededRight =
  | { readonly service: ServiceName }
  | { readonly report: string }
  | { readonly scriptField: string }
  | { readonly verbs: readonly RecordVerb[]; readonly collection?: string };

/** By the names of root fields and of types, and of members of types as `Type.member`; absent: nothing. */
export type NeededRights = ReadonlyMap<string, readonly NeededRight[]>;

export function reaches(reach: CallerReach, needed: readonly NeededRight[] = []): boolean {
  return needed.every((right) => {
    if ('service' in right) return reach.services.has(right.service);
    if ('report' in right) return reach.reports.some(({ name }) => name === right.report);
    if ('scriptField' in right) return reach.scripts.some(({ field }) => field.name === right.scriptField);
    return reach.collections.some(
      (one) =>
        (right.collection === undefined || one.collection.name === right.collection) &&
        right.verbs.every((verb) => (verb === 'delete' ? one.mayDelete : fieldsFor(one, verb) !== undefined)),
    );
  });
}

/** The fields that a caller may use by a verb; `undefined`: the caller may not use the verb. */
export function fieldsFor(
  { readable, creatable, updatable }: CollectionInReach,
  verb: 'read' | 'create' | 'update',
): readonly Field[] | undefined {
  if (verb === 'read') return readable;
  return verb === 'create' ? creatable : updatable;
}

const FIELDS_OF_SERVICES: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  ownSession: [
    ...['logout', 'beginSecondFactor', 'confirmSecondFactor', 'removeSecondFactor', 'renewRecoveryCodes'],
  ],
  session: [
    ...['apiKeys', 'apiKeyUsage', 'revokeApiKey', 'changePassword', 'sessions', 'endSession', 'endSessions'],
    ...['setLanguage', 'messages', 'topic'],
  ],
  keys: ['createApiKey', 'rotateApiKey'],
  accounts: [
    ...['accounts', 'account', 'roleNames', 'userRights', 'inviteUser', 'sendAccountLink', 'setUserRoles'],
    ...['setUserActive', 'unlockUser'],
  ],
  administration: [
    ...['auditTrail', 'fieldUses', 'collectionDefinition', 'undeclaredFields', 'resetSecondFactor'],
    ...['personErasure', 'erasePerson', 'exportPerson', 'retryMessage', 'discardMessage'],
    ...['domainProperties', 'setDomainProperty', 'removeDomainProperty'],
    ...['script', 'scriptVersions', 'saveScript', 'removeScript', 'Script.code'],
  ],
  topAdministration: ['health', 'makeBackup', 'verifyBackup', 'createBranch'],
  collections: ['collectionTrial', 'registerCollection', 'alterCollection', 'dropCollection'],
  webhooks: [
    ...['webhooks', 'webhookDeliveries', 'createWebhook', 'updateWebhook', 'removeWebhook', 'testWebhook'],
    ...['rotateWebhookSecret', 'replayWebhookDelivery', 'replayWebhookDeliveries'],
  ],
  email: ['sendEmail'],
  receipts: ['studentDues', 'recordReceipt', 'rollBackReceipt'],
  files: ['createFile'],
  reports: ['reportChanged'],
};

type NeededEntry = readonly [name: string, rights: readonly NeededRight[]];
const READ = { verbs: ['read'] } as const;

/** The rights that root fields need which do not depend on the declared collections. */
export const NEEDED_BY_SERVICES: NeededRights = new Map<string, readonly NeededRight[]>([
  ...Object.entries(FIELDS_OF_SERVICES).flatMap(([service, names]) =>
    names.map((name): NeededEntry => [name, [{ service: service as ServiceName }]]),
  ),
  ...['recordHistory', 'recordAt'].map((name): NeededEntry => [name, [READ]]),
  ['restoreRecord', [{ verbs: ['update'] }]],
  ...['createImport', 'changeImport', 'tryImport', 'runImport', 'undoImport'].map(
    (name): NeededEntry => [name, [{ service: 'imports' }, { verbs: ['read', 'create', 'update'] }]],
  ),
  ['sendSms', [{ verbs: ['create'], collection: 'sms_log' }]],
  ['promoteStudents', [{ verbs: ['read', 'update'], collection: 'registration' }]],
  [
    'raiseDues',
    [
      { verbs: ['create'], collection: 'fee_due' },
      ...['fee_plan', 'registration'].map((collection) => ({ ...READ, collection })),
    ],
  ],
]);
