import type { AuditOfSchoolQuery, AuditOfSchoolQueryVariables } from '../../../generated/portal/audit/audit';

export type ListedChange = AuditOfSchoolQuery['auditTrail'][number];

/** The conditions on changes, without the place in the list. */
export type AskedChanges = Omit<AuditOfSchoolQueryVariables, 'first' | 'before'>;
