/** The rows of an import: how many are done, what became of them, and those that are invalid. */
import { Card, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useId, useState } from 'react';
import {
  FaultsOfImport,
  type FaultsOfImportQuery,
  type ShownCountsFragment,
  type ShownImportFragment,
} from '../../../generated/portal/imports/imports';
import { saveFile } from '../gateway/save-file';
import { useGateway, useOperation, useViewer } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { Answered } from '../shell/answered';
import { ListTable } from '../shell/list-table';
import { ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';

interface CsvOfImportProps {
  readonly id: string;
  readonly file: 'errors.csv' | 'outcomes.csv';
  readonly label: string;
}

/** A button that downloads one of the CSV tables of an import. */
export function CsvOfImport({ id, file, label }: CsvOfImportProps) {
  const gateway = useGateway();
  const download = useMutation({
    mutationFn: async () => saveFile(await gateway.fetchFile(`/imports/${id}/${file}`), file),
  });
  return (
    <>
      <TextButton
        label={label}
        icon="download"
        loading={download.isPending}
        onClick={() => download.mutate()}
      />
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
      <Text>{t(WHAT_IS_DONE[state] ?? '')}</Text>
      <Progress
        value={part ?? 100}
        animated={part === undefined}
        striped={part === undefined}
        size="lg"
        aria-label={t('Progress')}
      />
      {!isWaiting && (
        <Text c="dimmed" role="status" className="tabular">
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
          <Text component="dt" c="dimmed">
            {name}
          </Text>
          <dd className="figure-value plain-definition">{formats.number(count)}</dd>
        </Card>
      ))}
    </SimpleGrid>
  );
}

type FaultsOfRow = FaultsOfImportQuery['importErrors'][number];
type FaultRow = FaultsOfRow['faults'][number] & Pick<FaultsOfRow, 'number'>;

/** The gateway returns no more. The file contains all of them. */
const MOST_SHOWN = 1_000;
const SHOWN_AT_ONCE = 50;

/** The invalid rows: the first ones in a table, and all of them as a file to correct and upload again. */
export function ImportFaults({ id, refused }: { readonly id: string; readonly refused: number }) {
  const t = useTexts();
  const formats = useFormats();
  const heading = useId();
  const [first, setFirst] = useState(SHOWN_AT_ONCE);
  const answer = useOperation(FaultsOfImport, { id, first }, { keepsPrevious: true });
  return (
    <section aria-labelledby={heading}>
      <Group justify="space-between" mb="xs">
        <Title id={heading}>{t('Problem')}</Title>
        <CsvOfImport id={id} file="errors.csv" label={t('All rows with errors (CSV)')} />
      </Group>
      <Text c="dimmed" mb="xs">
        {t('Correct them in this file and import it. Its last column, “error”, is ignored.')}
      </Text>
      <Answered of={answer}>
        {({ importErrors }) => (
          <ListTable<FaultRow>
            label={t('Problem')}
            rows={importErrors.flatMap(({ number, faults }) => faults.map((fault) => ({ ...fault, number })))}
            keyOf={({ number }, index) => `${number} ${index}`}
            columns={[
              [t('Row'), ({ number }) => number, 'numeric'],
              [t('Column'), ({ column }) => column, 'wrapped'],
              [t('Value in the file'), ({ sent }) => cellText(sent), 'wrapped'],
              [t('Problem'), ({ detail }) => <ProblemWords text={detail} />, 'wrapped'],
            ]}
          />
        )}
      </Answered>
      {refused > first && first < MOST_SHOWN && (
        <TextButton
          label={t('More of {count}', { count: formats.number(refused) })}
          mt="sm"
          onClick={() => setFirst(Math.min(MOST_SHOWN, first + 4 * SHOWN_AT_ONCE))}
        />
      )}
    </section>
  );
}

/** A cell as in the file. */
function cellText(sent: unknown): string {
  if (sent === null || sent === undefined) return '';
  return typeof sent === 'string' ? sent : JSON.stringify(sent);
}

/**
 * Whether the viewer may undo an import, which removes the records that it created and reverts those that it
 * changed.
 */
export function useMayUndo(collection: string, counts: ShownCountsFragment): boolean {
  const rights = useViewer().collections.find(({ name }) => name === collection);
  return (
    (counts.created === 0 || rights?.canRemove === true) &&
    (counts.updated === 0 || rights?.canUpdate === true)
  );
}
