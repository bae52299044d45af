/** A button that downloads one of the CSV tables of an import. */
import { Button, Card, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ShownCountsFragment, ShownImportFragment } from '../../../generated/portal/imports/imports';
import { saveFile } from '../gateway/save-file';
import { useGateway } from '../gateway/use-gateway';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { ProblemState } from '../shell/states';

export interface CsvOfImportProps {
  readonly id: string;
  readonly file: 'errors.csv' | 'outcomes.csv';
  readonly label: string;
}

export function CsvOfImport({ id, file, label }: CsvOfImportProps) {
  const gateway = useGateway();
  const download = useMutation({
    mutationFn: async () => saveFile(await gateway.fetchFile(`/imports/${id}/${file}`), file),
  });
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        loading={download.isPending}
        onClick={() => download.mutate()}
      >
        {label}
      </Button>
      {download.error && <ProblemState problem={download.error} retry={() => download.mutate()} />}
    </>
  );
}

const WHAT_IS_DONE: Readonly<Record<string, string>> = {
  RECEIVED: phrase('Reading the file. Nothing is saved.'),
  INSPECTING: phrase('Reading the file. Nothing is saved.'),
  TRYING: phrase('Checking every row. Nothing is saved.'),
  WAITING: phrase('Two imports run at a time. This one starts when its turn comes.'),
  RUNNING: phrase('Importing rows. You can leave this page; the import continues.'),
};

/** The progress of the gateway, as a share of the rows if their number is known. */
export function ImportProgress({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const { state, counts, rowCount } = one;
  // A waiting import still has the counts of its dry run.
  const isWaiting = state === 'WAITING';
  const part = isWaiting || rowCount === null || rowCount === 0 ? undefined : (100 * counts.rows) / rowCount;
  return (
    <Stack gap="xs" maw={640}>
      <Text size="sm">{t(WHAT_IS_DONE[state] ?? '')}</Text>
      <Progress
        value={part ?? 100}
        animated={part === undefined}
        striped={part === undefined}
        size="lg"
        aria-label={t('Progress')}
      />
      {!isWaiting && (
        <Text size="sm" c="dimmed" role="status" className="tabular">
          {rowCount === null
            ? t('{rows, plural, one {# row} other {# rows}}', { rows: counts.rows })
            : t('{rows} of {all} rows', {
                rows: formats.number(counts.rows),
                all: formats.number(rowCount),
              })}
        </Text>
      )}
    </Stack>
  );
}

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
