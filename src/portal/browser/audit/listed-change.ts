import type { AuditOfSchoolQuery, AuditOfSchoolQueryVariables } from '../../../generated/portal/audit/audit';

export type ListedChange = AuditOfSchoolQuery['auditTrail'][number];

/** Which changes are asked for, but for the place in the list. */
export type AskedChanges = Omit<AuditOfSchoolQueryVariables, 'first' | 'before'>;
