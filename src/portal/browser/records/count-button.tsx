import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useGateway } from '../gateway/gateway-context';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { type CountedFilter, countUpToMost } from './count-up-to-most';

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
    return (
      <Button variant="default" loading={isPending && isOfFilter} onClick={() => mutate(filter)}>
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
