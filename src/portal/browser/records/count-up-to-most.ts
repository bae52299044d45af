import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import type { GatewayClient } from '../gateway/gateway-client';

/** What is counted, as REST says it. */
export interface CountedFilter {
  readonly collection: string;
  readonly oquery: string;
  /** A filter that REST does not know; null for none. */
  readonly where: unknown;
}

const COUNTED_AT_ONCE = 1_000;

/** Gives a number above `most` where there are more: a pass over all of a large collection takes seconds. */
export async function countUpToMost(
  gateway: GatewayClient,
  { collection, oquery, where }: CountedFilter,
  most: number,
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
    if (count >= most) return count + 1;
    after = records.pageInfo.endCursor ?? null;
  }
}
