import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import type { GatewayClient } from '../gateway/gateway-client';

/** The records to count, by the parameters of REST. */
export interface CountedFilter {
  readonly collection: string;
  readonly oquery: string;
  /** The filter as `where`; null for none. */
  readonly where: unknown;
}

const COUNTED_AT_ONCE = 1_000;

/**
 * Counts up to `most` records, because counting a whole large collection takes seconds. The result is greater
 * than `most` if there are more.
 */
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
