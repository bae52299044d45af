import { Table } from '@mantine/core';
import type { TriedDeclarationQuery } from '../../../generated/portal/collections/collections';
import { phrase, useTexts } from '../language/use-texts';
import { StateTag } from '../shell/state-tag';

/** The difference in a part of a declaration. */
export type TriedChange = TriedDeclarationQuery['collectionTrial']['changes'][number];

const CHANGE_NAMES: Readonly<Record<TriedChange['kind'], string>> = {
  ADDED: phrase('Added'),
  CHANGED: phrase('Changed'),
  REMOVED: phrase('Removed'),
};

export interface ChangeTableProps {
  readonly label: string;
  readonly changes: readonly TriedChange[];
}

/** The parts of a declaration that differ, before and after. */
export function ChangeTable({ label, changes }: ChangeTableProps) {
  const t = useTexts();
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Part')}</Table.Th>
            <Table.Th>{t('What')}</Table.Th>
            <Table.Th>{t('Before')}</Table.Th>
            <Table.Th>{t('After')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ pointer, kind, before, after }) => (
            <Table.Tr key={pointer}>
              <Table.Th scope="row" className="wrapped">
                {pointer.slice(1)}
              </Table.Th>
              <Table.Td>
                <StateTag state={kind}>{t(CHANGE_NAMES[kind])}</StateTag>
              </Table.Td>
              <Table.Td className="wrapped">{before === null ? '–' : JSON.stringify(before)}</Table.Td>
              <Table.Td className="wrapped">{after === null ? '–' : JSON.stringify(after)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
