import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Brand } from './brand';
import { EntranceSide } from './entrance-side';
import { Preferences } from './preferences';

export interface EntranceCardProps {
  /** The title of the browser tab. */
  readonly title: string;
  /** The text below the name of the product. */
  readonly subtitle: string;
  readonly children: ReactNode;
}

/** The frame of all pages without a session. */
export function EntranceCard({ title, subtitle, children }: EntranceCardProps) {
  useEffect(() => {
    document.title = `${title} · Campus Gateway`;
  });
  return (
    <main className="entrance">
      <EntranceSide about={subtitle} />
      <div className="login-page">
        <Paper withBorder shadow="sm" p={{ base: 'lg', xs: 'xl' }} className="login-card">
          <Stack gap="lg">
            <div>
              <Group justify="space-between" wrap="nowrap">
                <Title order={1} size="h4">
                  <Brand />
                </Title>
                <Preferences />
              </Group>
              <Text c="dimmed" mt={4}>
                {subtitle}
              </Text>
            </div>
            {children}
          </Stack>
        </Paper>
      </div>
    </main>
  );
}
