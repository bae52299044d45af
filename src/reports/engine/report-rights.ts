/** Checks who may run a report: every front end passes through here, because it is part of running. */
import { ServiceError } from '../../errors.js';
import type { JsonValue } from '../../json.js';
import type { Scope } from '../../model/scope.js';

export interface ReportRights {
  /** The `[class, section]` pairs the caller is confined to; `undefined`: the whole school. */
  readonly sections: readonly (readonly JsonValue[])[] | undefined;
}

interface Guarded {
  readonly name: string;
  readonly roles: readonly string[];
  readonly teachers: 'all' | 'taught' | 'none';
}

/**
 * `admin` may run every report, the roles of the report this one. A teacher without such a role is confined
 * to the sections taught where the report is about sections. An API key needs the report among its scopes as
 * well.
 *
 * @throws FORBIDDEN (403)
 * @see decisions 6
 */
export function rightsOf(report: Guarded, scope: Scope): ReportRights {
  const { roles, scopes, attributes } = scope.principal;
  if (scopes && !scopes.reports.includes('*') && !scopes.reports.includes(report.name)) {
    throw new ServiceError(
      'FORBIDDEN',
      `This API key may not run the report ${report.name}: it is none of its scopes.`,
    );
  }
  if (roles.has('admin') || report.roles.some((role) => roles.has(role))) return { sections: undefined };
  if (roles.has('teacher') && report.teachers === 'all') return { sections: undefined };
  if (roles.has('teacher') && report.teachers === 'taught')
    return { sections: attributes.sectionsTaught ?? [] };
  throw new ServiceError('FORBIDDEN', `The report ${report.name} is for ${listRoles(report)}.`);
}

/** The roles that may run a report, for documentation. */
export function rolesOf(report: Guarded): readonly string[] {
  return ['admin', ...report.roles, ...(report.teachers === 'none' ? [] : ['teacher'])];
}

function listRoles(report: Guarded): string {
  return `the roles ${rolesOf(report).join(', ')}`;
}
