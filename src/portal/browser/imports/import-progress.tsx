import { Progress, Stack, Text } from '@mantine/core';
import type { ShownImportFragment } from '../../../generated/portal/imports/imports';
import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';

const WHAT_IS_DONE: Readonly<Record<string, string>> = {
  RECEIVED: phrase('The file is being looked into. Nothing is written.'),
  INSPECTING: phrase('The file is being looked into. Nothing is written.'),
  TRYING: phrase('Every row is tried. Nothing is written.'),
  WAITING: phrase('Two imports run at once; this one goes on when its turn comes.'),
  RUNNING: phrase('Rows are written. You may leave this page: the import goes on.'),
};

/** How far the gateway is; of how many rows, where that is known. */
export function ImportProgress({ one }: { readonly one: ShownImportFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const { state, counts, rowCount } = one;
  const part = rowCount === null || rowCount === 0 ? undefined : (100 * counts.rows) / rowCount;
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
      <Text size="sm" c="dimmed" role="status" className="tabular">
        {rowCount === null
          ? t('{rows, plural, one {# row} other {# rows}}', { rows: counts.rows })
          : t('{rows} of {all} rows', {
              rows: formats.number(counts.rows),
              all: formats.number(rowCount),
            })}
      </Text>
    </Stack>
  );
}
