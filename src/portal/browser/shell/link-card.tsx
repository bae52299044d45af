import { Card, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export interface LinkCardProps {
  readonly to: string;
  readonly title: string;
  readonly children: ReactNode;
}

/** A card in a list of pages to go to: what it is called, and below that what it is about. */
export function LinkCard({ to, title, children }: LinkCardProps) {
  return (
    <li>
      <Card component={Link} to={to} withBorder padding="md" className="link-card">
        <Text component="h2" fw={600}>
          {title}
        </Text>
        {children}
      </Card>
    </li>
  );
}
