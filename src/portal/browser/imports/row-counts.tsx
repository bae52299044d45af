import { Card, SimpleGrid, Text } from '@mantine/core';
import type { ShownCountsFragment } from '../../../generated/portal/imports/imports';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';

/** The counts of the rows of a file by their actual or expected outcome. */
export function RowCounts({ counts }: { readonly counts: ShownCountsFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const shown = [
    [t('New'), counts.created],
    [t('Changed'), counts.updated],
    [t('Unchanged'), counts.same],
    [t('Errors'), counts.refused],
    [t('Removed'), counts.removed],
  ] as const;
  return (
    <SimpleGrid component="dl" cols={{ base: 2, xs: 3, md: 5 }} m={0}>
      {shown.map(([name, count]) => (
        <Card key={name} withBorder padding="sm">
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <dd className="figure-value plain-definition">{formats.number(count)}</dd>
        </Card>
      ))}
    </SimpleGrid>
  );
}
