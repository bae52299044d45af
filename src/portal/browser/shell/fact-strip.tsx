import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface FactStripProps {
  /** The name and the value of each fact; a fact without a value is left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Shows the main facts about a thing below the heading of its page, where they stay visible on every tab. */
export function FactStrip({ facts }: FactStripProps) {
  return (
    <dl className="fact-strip">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export interface FactsTableProps {
  /** The name and the value of each fact; a fact without a value is left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** Shows the facts about one thing, one per line. */
export function FactsTable({ facts }: FactsTableProps) {
  return (
    <Table fz="sm" verticalSpacing={4}>
      <Table.Tbody>
        {facts.map(
          ([name, value]) =>
            value && (
              <Table.Tr key={name}>
                <Table.Th scope="row" w={140}>
                  {name}
                </Table.Th>
                <Table.Td className="wrapped">{value}</Table.Td>
              </Table.Tr>
            ),
        )}
      </Table.Tbody>
    </Table>
  );
}
