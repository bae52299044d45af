/** The first page: who one is to the gateway, and the ways on. */
import { Card, Group, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { PageFrame } from '../shell/page-frame';
import { useViewer } from '../shell/viewer';

export function HomePage() {
  const t = useTexts();
  const viewer = useViewer();
  const collections = viewer.collections.filter(({ canRead }) => canRead);
  return (
    <PageFrame title={t('Home')} description={t('Welcome, {name}.', { name: viewer.name })}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
        {collections.map(({ name, title }) => (
          <li key={name}>
            <Card
              component={Link}
              to={`/portal/records/${name}`}
              withBorder
              padding="md"
              className="collection-card"
            >
              <Group wrap="nowrap">
                <Icon name="table" />
                <Text fw={600}>{title}</Text>
              </Group>
            </Card>
          </li>
        ))}
      </SimpleGrid>
    </PageFrame>
  );
}
