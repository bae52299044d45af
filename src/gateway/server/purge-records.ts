import { type Domain, type Scope, systemPrincipal } from '../../base/model/scope.js';
import type { Purged } from '../../store/changes/purge.js';
import type { RecordStore } from '../../store/record-store.js';

export interface PurgeServices {
  readonly store: Pick<RecordStore, 'purge'>;
  readonly domains: { top(): Domain | undefined };
  /** Records removed before this lose their `_id`, which is GONE until then. */
  readonly removedBefore: Date;
}

/**
 * Deletes what was kept for a time, of all domains. Returns `undefined` if nothing was deleted.
 *
 * @see decisions 1 (tombstones), 4 (idempotency keys)
 */
export async function purgeRecords(services: PurgeServices): Promise<Purged | undefined> {
  const domain = services.domains.top();
  if (!domain) return undefined;
  const scope: Scope = {
    domain,
    principal: systemPrincipal('purge', ['admin'], domain.id),
    call: { requestId: 'purge' },
  };
  const purged = await services.store.purge(scope, { removedBefore: services.removedBefore });
  const { tombstones, idempotencyKeys, topicMessages, historyValues, collections } = purged;
  const count = tombstones + idempotencyKeys + topicMessages + historyValues + collections.length;
  return count > 0 ? purged : undefined;
}
