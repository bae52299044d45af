import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import type { GatewayClient } from '../gateway/gateway-client';

/** What is counted, as REST says it. */
export interface CountedFilter {
  readonly collection: string;
  readonly oquery: string;
  /** A filter that REST does not know; null for none. */
  readonly where: unknown;
}

/** More are not counted: a pass over all of a large collection would take seconds. */
export const MOST_COUNTED = 10_000;

const COUNTED_AT_ONCE = 1_000;

/** Gives a number above `MOST_COUNTED` where there are more. */
export async function countUpToMost(
  gateway: GatewayClient,
  { collection, oquery, where }: CountedFilter,
): Promise<number> {
  const filter = {
    collection,
    oquery,
    where: where ?? {},
    first: COUNTED_AT_ONCE,
  };
  let after: string | null = null;
  for (let count = 0; ; ) {
    const { records }: CountedRecordsQuery = await gateway.execute(CountedRecords, { ...filter, after });
    count += records.nodes.length;
    if (!records.pageInfo.hasNextPage) return count;
    if (count >= MOST_COUNTED) return count + 1;
    after = records.pageInfo.endCursor ?? null;
  }
}
