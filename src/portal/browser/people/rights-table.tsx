import { Table, Text } from '@mantine/core';
import { PeopleRights } from '../../../generated/portal/people/people';
import { useOperation } from '../gateway/use-gateway';
import { useReportWords, useTexts } from '../language/use-texts';
import { useFieldNames } from '../records/use-declared-collection';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

/** The rights of a user as the gateway decides them: each collection by verb, with its fields. */
export function RightsTable({ userId }: { readonly userId: string }) {
  const t = useTexts();
  const say = useReportWords();
  const { data, error, refetch } = useOperation(PeopleRights, { userId });
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const collections = data.userRights?.collections ?? [];
  if (collections.length === 0) return <EmptyState icon="lock" title={t('No access to records')} />;
  return (
    <Table verticalSpacing="xs" className="stacked-table" aria-label={t('Permissions')}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('Collection')}</Table.Th>
          <Table.Th>{t('Read')}</Table.Th>
          <Table.Th>{t('Create')}</Table.Th>
          <Table.Th>{t('Change')}</Table.Th>
          <Table.Th>{t('Remove')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {collections.map((rights) => (
          <Table.Tr key={rights.name}>
            <Table.Th scope="row">
              {say(rights.title)}
              {rights.isLimitedToRows && (
                <Text size="xs" c="dimmed">
                  {t('only some records')}
                </Text>
              )}
            </Table.Th>
            <VerbCell verb={t('Read')} isAllowed={rights.canRead} fields={rights.readableFields} />
            <VerbCell verb={t('Create')} isAllowed={rights.canCreate} fields={rights.creatableFields} />
            <VerbCell verb={t('Change')} isAllowed={rights.canUpdate} fields={rights.updatableFields} />
            <VerbCell verb={t('Remove')} isAllowed={rights.canRemove} fields={[]} />
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface VerbCellProps {
  readonly verb: string;
  readonly isAllowed: boolean;
  readonly fields: readonly string[];
}

function VerbCell({ verb, isAllowed, fields }: VerbCellProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  if (!isAllowed) return <Table.Td data-label={verb}>{t('No')}</Table.Td>;
  if (fields.length === 0) return <Table.Td data-label={verb}>{t('Yes')}</Table.Td>;
  return (
    <Table.Td data-label={verb}>
      <details>
        <summary>{t('{count, plural, one {# field} other {# fields}}', { count: fields.length })}</summary>
        <Text size="xs" className="wrapped">
          {fields.map(nameOf).join(', ')}
        </Text>
      </details>
    </Table.Td>
  );
}
