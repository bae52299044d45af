import { Card, Group, Table, Text, VisuallyHidden } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from '../language/texts';
import { Icon } from './icon';
import { searchOf } from './text-button';

export interface LinkCardProps {
  readonly to: string;
  /** The query of the address. */
  readonly search?: Readonly<Record<string, string>> | undefined;
  readonly title: string;
  /** The number of a card that is a step, or `done`. */
  readonly step?: number | 'done';
  /** The level of its heading, one below that of its section. */
  readonly level?: 2 | 3;
  readonly children: ReactNode;
}

/** A card in a list of pages: its title, and a description below. */
export function LinkCard({ to, search, title, step, level = 2, children }: LinkCardProps) {
  return (
    <li>
      <Card component={Link} to={to} search={searchOf(search)} withBorder padding="md" className="link-card">
        <Group gap="xs" wrap="nowrap">
          {step !== undefined && <StepSign step={step} />}
          <Text component={`h${level}`} fw={600} size="md">
            {title}
          </Text>
        </Group>
        {children}
      </Card>
    </li>
  );
}

function StepSign({ step }: { readonly step: number | 'done' }) {
  if (step !== 'done') {
    return (
      <span className="step-number" aria-hidden="true">
        {step}
      </span>
    );
  }
  return (
    <>
      <span className="step-number" data-done aria-hidden="true">
        <Icon name="check" size={14} />
      </span>
      <VisuallyHidden>{t('Done:')}</VisuallyHidden>
    </>
  );
}

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

/** Shows the facts about one thing, one per line. */
export function FactsTable({ facts }: FactStripProps) {
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
