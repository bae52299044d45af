/** The branches of the school, with links to open them, and a button to create another one. */
import { Anchor, Button, Code, Group, Table, Text, Title } from '@mantine/core';
import { useId, useState } from 'react';
import { SchoolBranches } from '../../../generated/portal/branches/branches';
import { useOperation } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';
import { homeOfBranch } from './branch-in-address';
import { NewBranchDialog } from './new-branch-dialog';

export function BranchesSection() {
  const t = useTexts();
  const heading = useId();
  const { domain, duties } = useViewer();
  const [isMaking, setIsMaking] = useState(false);
  const { data } = useOperation(SchoolBranches, {});
  if (!data) return null;
  return (
    <section aria-labelledby={heading}>
      <Group justify="space-between" mb="xs" maw={820}>
        <Title order={2} size="h4" id={heading}>
          {t('School and branches')}
        </Title>
        {duties.includes('branches') && (
          <Button
            variant="default"
            leftSection={<Icon name="plus" size={14} />}
            onClick={() => setIsMaking(true)}
          >
            {t('New branch')}
          </Button>
        )}
      </Group>
      <Table className="stacked-table" verticalSpacing="sm" aria-labelledby={heading} maw={820}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Name')}</Table.Th>
            <Table.Th>X-Domain</Table.Th>
            <Table.Th>{t('Time zone')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.me.branches.map(({ id, name, timeZone }) => (
            <Table.Tr key={id}>
              <Table.Td className="wrapped">
                {id === domain.id ? (
                  <Text span inherit fw={600}>
                    {name}
                  </Text>
                ) : (
                  <Anchor inherit href={homeOfBranch(id)}>
                    {name}
                  </Anchor>
                )}
              </Table.Td>
              <Table.Td data-label="X-Domain">
                <Code className="wrapped">{id}</Code>
              </Table.Td>
              <Table.Td data-label={t('Time zone')}>{timeZone}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {isMaking && <NewBranchDialog onClose={() => setIsMaking(false)} />}
    </section>
  );
}
