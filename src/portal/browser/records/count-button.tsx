import { useMutation } from '@tanstack/react-query';
import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import type { GatewayClient } from '../gateway/gateway-client';
import { useGateway } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { TextButton } from '../shell/text-button';

/** A larger number is of no use to anybody. */
const MOST_COUNTED = 10_000;

/** Counts the records when it is pressed. */
export function CountButton({ asked }: { readonly asked: CountedFilter }) {
  const t = useTexts();
  const formats = useFormats();
  const gateway = useGateway();
  const filter = JSON.stringify([asked.oquery, asked.where]);
  const { mutate, data, variables, isPending } = useMutation({
    mutationFn: (_filter: string) => countUpToMost(gateway, asked, MOST_COUNTED),
  });
  const isOfFilter = variables === filter;
  if (data === undefined || !isOfFilter) {
    return <TextButton label={t('Count')} loading={isPending && isOfFilter} onClick={() => mutate(filter)} />;
  }
  return (
    <output className="count">
      {data > MOST_COUNTED
        ? `${formats.number(MOST_COUNTED)}+`
        : t('{count, plural, one {# record} other {# records}}', { count: data })}
    </output>
  );
}

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
