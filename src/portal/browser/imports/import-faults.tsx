/** The invalid rows: the first ones in a table, and all of them as a file to correct and upload again. */
import { Button, Group, Table, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { FaultsOfImport } from '../../../generated/portal/imports/imports';
import { useOperation } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { useFormats, useTexts } from '../language/use-texts';
import { LoadingState, ProblemState } from '../shell/states';
import { CsvOfImport } from './import-progress';

/** The gateway returns no more. The file contains all of them. */
const MOST_SHOWN = 1_000;
const SHOWN_AT_ONCE = 50;

export function ImportFaults({ id, refused }: { readonly id: string; readonly refused: number }) {
  const t = useTexts();
  const formats = useFormats();
  const heading = useId();
  const [first, setFirst] = useState(SHOWN_AT_ONCE);
  const { data, error, refetch } = useOperation(FaultsOfImport, { id, first }, { keepsPrevious: true });
  return (
    <section aria-labelledby={heading}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4" id={heading}>
          {t('Problem')}
        </Title>
        <CsvOfImport id={id} file="errors.csv" label={t('All rows with errors (CSV)')} />
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        {t('Correct them in this file and import it. Its last column, “error”, is ignored.')}
      </Text>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && (
        <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table aria-labelledby={heading}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th className="numeric">{t('Row')}</Table.Th>
                <Table.Th>{t('Column')}</Table.Th>
                <Table.Th>{t('Value in the file')}</Table.Th>
                <Table.Th>{t('Problem')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.importErrors.flatMap(({ number, faults }) =>
                faults.map(({ column, detail, sent }, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the faults of a row have no other name.
                  <Table.Tr key={`${number} ${index}`}>
                    <Table.Td className="numeric">{number}</Table.Td>
                    <Table.Td className="wrapped">{column}</Table.Td>
                    <Table.Td className="wrapped">{cellText(sent)}</Table.Td>
                    <Table.Td className="wrapped">
                      <ProblemWords text={detail} />
                    </Table.Td>
                  </Table.Tr>
                )),
              )}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {refused > first && first < MOST_SHOWN && (
        <Button
          variant="default"
          mt="sm"
          onClick={() => setFirst(Math.min(MOST_SHOWN, first + 4 * SHOWN_AT_ONCE))}
        >
          {t('More of {count}', { count: formats.number(refused) })}
        </Button>
      )}
    </section>
  );
}

/** A cell as in the file. */
function cellText(sent: unknown): string {
  if (sent === null || sent === undefined) return '';
  return typeof sent === 'string' ? sent : JSON.stringify(sent);
}
