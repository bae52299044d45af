/** The rights of a caller, computed by the same rules that allow or refuse a request. */
import { isRefused } from '../../../base/errors.js';
import type { Collection } from '../../../base/model/collection.js';
import type { Domain, RecordVerb, Scope } from '../../../base/model/scope.js';
import type { Report } from '../../../school/reports/engine/report.js';
import { findAccess, isAdmin, isInReach, isTopDomainAdmin } from '../../../store/access/access.js';

/** The part of a library operation that is needed here. */
interface ListedOperation {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly topic: string;
  readonly kind: string;
  /** The roles it was written for. */
  readonly roles: readonly string[];
}

export interface RightsSources {
  readonly catalog: { list(): readonly Collection[] };
  readonly reports: readonly Report[];
  readonly operations: readonly ListedOperation[];
  readonly domains: { top(): Domain | undefined };
}

/** Each member is computed only when read. */
export function callerRights(scope: Scope, { catalog, reports, operations, domains }: RightsSources) {
  const { roles, scopes } = scope.principal;
  return {
    /** The collections in which the caller may do anything at all, by name. */
    collections: () =>
      catalog
        .list()
        .filter((collection) => isInReach(scope, collection))
        .map((collection) => describeRights(scope, collection)),
    /** The reports the caller may run, in the order of their list. */
    reports: () => reports.filter((report) => mayRun(scope, report)),
    /** The operations of the library that are written for a role of the caller. */
    operations: () =>
      operations.filter((operation) => {
        const report = reports.find(({ name }) => name === operation.name);
        if (report !== undefined) return mayRun(scope, report);
        // An operation may still be refused by its records when it runs. API keys are left out: a key has a
        // purpose of its own.
        return scopes === undefined && operation.roles.some((role) => roles.has(role));
      }),
    /** The caller's administrative duties apart from records; the schema explains each word. */
    duties: (): readonly string[] => [
      ...(isAdmin(scope.principal) ? DUTIES_OF_ADMINS : []),
      ...(isTopDomainAdmin(scope, domains.top()) ? DUTIES_OF_TOP_ADMINS : []),
    ],
  };
}

const DUTIES_OF_ADMINS = ['users', 'keys', 'scripts', 'messages', 'files', 'settings', 'audit'] as const;
const DUTIES_OF_TOP_ADMINS = ['collections', 'branches', 'backups', 'health'] as const;

function describeRights(scope: Scope, collection: Collection) {
  const read = findAccess(scope, collection, 'read');
  const may = (verb: RecordVerb) => findAccess(scope, collection, verb) !== undefined;
  const names = collection.fields.map(({ name }) => name);
  const settable = (verb: RecordVerb) => {
    const access = findAccess(scope, collection, verb);
    return access === undefined ? [] : names.filter((name) => !access.readOnlyFields.has(name));
  };
  return {
    name: collection.name,
    title: collection.title,
    isDeclared: collection.isDeclared,
    canRead: read !== undefined,
    canCreate: may('create'),
    canUpdate: may('update'),
    canRemove: may('delete'),
    // A row rule limits the caller to some of its records.
    isLimitedToRows: read?.rows !== undefined,
    readableFields: read === undefined ? [] : names.filter((name) => !read.hiddenFields.has(name)),
    creatableFields: settable('create'),
    updatableFields: settable('update'),
  };
}

/** Whether the caller may run this report, at least for a part of the school. */
export function mayRun(scope: Scope, report: Report): boolean {
  return !isRefused(() => report.assertAllowed(scope), ['FORBIDDEN']);
}
