import { LastAuditedChange, LastChangeOfRecord } from '../../../generated/portal/shell/last-change';
import { useOperation } from '../gateway/use-operation';

/** A change that somebody else has made in the meantime. */
export interface OtherChange {
  /** The id of the user, or the name of a task of the service. */
  readonly by: string;
  readonly at: string;
}

/** What was changed: a record, or an audited object by the name that the audit trail has for its kind. */
export interface ChangedObject {
  /** The collection of a record, or e.g. `$property`. */
  readonly collection: string;
  readonly id: string;
}

/** Returns the last change; `undefined` until it is read, and if the viewer may not know who made it. */
export function useLastChange(changed: ChangedObject): OtherChange | undefined {
  const isRecord = !changed.collection.startsWith('$');
  const { collection, id } = changed;
  const history = useOperation(LastChangeOfRecord, { collection, id }, { isEnabled: isRecord });
  const trail = useOperation(LastAuditedChange, { collection, id }, { isEnabled: !isRecord });
  const [version] = history.data?.recordHistory.nodes ?? [];
  if (version?.by) return { by: version.by.principal, at: version.at };
  const [audited] = trail.data?.auditTrail ?? [];
  return audited && { by: audited.principal, at: audited.at };
}
