/** The reports that the viewer may run, to choose one. */
import { Card, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTexts } from '../language/use-texts';
import { PageFrame } from '../shell/page-frame';
import { useViewer } from '../shell/viewer';

export function ReportsPage() {
  const t = useTexts();
  const { reports } = useViewer();
  return (
    <PageFrame
      title={t('Reports')}
      description={t('{count, plural, one {# report} other {# reports}} that you may run', {
        count: reports.length,
      })}
    >
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
        {reports.map(({ name, title, description }) => (
          <li key={name}>
            <Card
              component={Link}
              to={`/portal/reports/${name}`}
              withBorder
              padding="md"
              className="collection-card"
            >
              <Text component="h2" fw={600}>
                {title}
              </Text>
              <Text size="sm" c="dimmed" lineClamp={3}>
                {description}
              </Text>
            </Card>
          </li>
        ))}
      </SimpleGrid>
    </PageFrame>
  );
}
