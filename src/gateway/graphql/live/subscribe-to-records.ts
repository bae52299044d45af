/** The common part of generic and typed subscriptions to records. */
import type { Filter } from '../../../base/model/filter.js';
import { assertMembersReadable } from '../../../store/reading/assert-members-readable.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import type { SubscribeData } from './live-context.js';
import { ChangeOperation, type ChangeShape } from './record-change-event.js';

const ALL_OPERATIONS: readonly ChangeOperation[] = Object.values(ChangeOperation);

/**
 * Opens a subscription; every change committed from then on is reported.
 *
 * @throws FORBIDDEN, also for a hidden field that is selected or filtered by; NOT_FOUND, GONE,
 *   MALFORMED_FILTER, INVALID_VALUE
 */
export async function subscribeToRecords(
  { context, info }: Omit<SubscribeData<unknown>, 'args'>,
  request: {
    readonly collection: string;
    readonly filter: Filter;
    readonly operations: readonly ChangeOperation[] | null | undefined;
    /** The same object for the same selection, so that reads are shared. */
    readonly shape: ChangeShape;
  },
): Promise<EventQueue> {
  const { catalog, recordChanges, caller } = context;
  const scope = requireScope(context);
  const { collection, filter, shape } = request;
  for (const members of shape.selections) assertMembersReadable(members, collection, { scope, catalog });
  const queue = context.openQueue(info);
  try {
    const operations = new Set(request.operations ?? ALL_OPERATIONS);
    await recordChanges.subscribe(scope, { caller, collection, filter, operations, shape, queue });
    return queue;
  } catch (error) {
    await queue.return();
    throw error;
  }
}
