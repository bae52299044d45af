import { Button, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { FoundFields } from '../../../generated/portal/collections/collections';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

/** Searches undeclared fields on request. In a large collection, it reads a sample. */
export function FoundFieldsTab({ collection }: { readonly collection: string }) {
  const t = useTexts();
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, refetch } = useOperation(FoundFields, { collection }, { isEnabled: isAsked });
  if (!isAsked) {
    return (
      <Stack align="flex-start">
        <Text size="sm">
          {t(
            'Records can hold fields that are not declared. Forms do not show them and no rule checks them.',
          )}
        </Text>
        <Button variant="default" onClick={() => setIsAsked(true)}>
          {t('Check up to 1,000 records')}
        </Button>
      </Stack>
    );
  }
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={3} />;
  const { sampledCount, fields } = data.undeclaredFields;
  const looked = t('{count, plural, one {# record was} other {# records were}} looked at.', {
    count: sampledCount,
  });
  if (fields.length === 0)
    return (
      <EmptyState icon="check" title={t('All fields found are declared')}>
        {looked}
      </EmptyState>
    );
  return (
    <Stack>
      <Text size="sm" role="status">
        {looked} {t('Other records may have more.')}
      </Text>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="xs" aria-label={t('Undeclared fields')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Field')}</Table.Th>
              <Table.Th>{t('Values, as JSON has them')}</Table.Th>
              <Table.Th className="numeric">{t('Records')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map(({ name, types, recordCount }) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" className="wrapped">
                  {name}
                </Table.Th>
                <Table.Td>{types.join(', ')}</Table.Td>
                <Table.Td className="numeric">{recordCount}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
