import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import type { GatewayClient } from '../gateway/gateway-client';
import { useGateway } from '../gateway/gateway-context';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';

/** What is counted, as REST says it. */
interface CountedFilter {
  readonly collection: string;
  readonly oquery: string;
  /** A filter that REST does not know; null for none. */
  readonly where: unknown;
}

/** More are not counted: a pass over all of a large collection would take seconds. */
const MOST_COUNTED = 10_000;

/** Counts when it is pressed. */
export function CountButton({ asked }: { readonly asked: CountedFilter }) {
  const t = useTexts();
  const formats = useFormats();
  const gateway = useGateway();
  const { mutate, data, isPending } = useMutation({ mutationFn: () => countRecords(gateway, asked) });
  if (data === undefined) {
    return (
      <Button variant="default" loading={isPending} onClick={() => mutate()}>
        {t('Count')}
      </Button>
    );
  }
  return (
    <output className="count">
      {data > MOST_COUNTED
        ? `${formats.number(MOST_COUNTED)}+`
        : t('{count, plural, one {# record} other {# records}}', { count: data })}
    </output>
  );
}

const COUNTED_AT_ONCE = 1_000;

/** Gives a number above `MOST_COUNTED` where there are more. */
async function countRecords(
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
