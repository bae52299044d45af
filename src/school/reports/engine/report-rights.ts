/** Checks who may run a report. Every front end passes through here, because the check is part of running. */
import { ServiceError } from '../../../base/errors.js';
import type { JsonValue } from '../../../base/json/json.js';
import type { Scope } from '../../../base/model/scope.js';

interface Guarded {
  readonly name: string;
  readonly roles: readonly string[];
  readonly teachers: 'all' | 'taught' | 'none';
}

/**
 * The `[class, section]` pairs to which the caller is limited; `undefined`: the whole school.
 *
 * `admin` may run every report, and the roles of a report may run it. A teacher without such a role is
 * limited to the sections taught, if the report is about sections. An API key also needs the report in its
 * scopes.
 *
 * @throws FORBIDDEN (403)
 * @see decisions 6
 */
export function reportRights(report: Guarded, scope: Scope): readonly (readonly JsonValue[])[] | undefined {
  const { roles, scopes, attributes } = scope.principal;
  if (scopes && !scopes.reports.includes('*') && !scopes.reports.includes(report.name)) {
    throw new ServiceError(
      'FORBIDDEN',
      `This API key may not run the report ${report.name}: it is none of its scopes.`,
    );
  }
  const isTeacher = roles.has('teacher');
  const isAllowed = ['admin', ...report.roles].some((role) => roles.has(role));
  if (isAllowed || (isTeacher && report.teachers === 'all')) return undefined;
  if (isTeacher && report.teachers === 'taught') return attributes.sectionsTaught ?? [];
  throw new ServiceError(
    'FORBIDDEN',
    `The report ${report.name} is for the roles ${rolesOf(report).join(', ')}.`,
  );
}

/** The roles that may run a report, for documentation. */
export function rolesOf(report: Guarded): readonly string[] {
  return ['admin', ...report.roles, ...(report.teachers === 'none' ? [] : ['teacher'])];
}
