import { Progress, Stack, Text } from '@mantine/core';
import type { ShownImportFragment } from '../../../generated/portal/imports/imports';
import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';

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
