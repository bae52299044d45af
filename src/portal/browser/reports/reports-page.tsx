/** The reports that the viewer may run, to choose one. */
import { SimpleGrid, Text } from '@mantine/core';
import { useReportWords } from '../language/use-report-words';
import { useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-spans';
import { LinkCard } from '../shell/link-card';
import { PageFrame } from '../shell/page-frame';
import { useViewer } from '../shell/viewer';

export function ReportsPage() {
  const t = useTexts();
  const say = useReportWords();
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
          <LinkCard key={name} to={`/portal/reports/${name}`} title={say(title)}>
            <Text size="sm" c="dimmed" lineClamp={3}>
              <CodeSpans text={say(description)} />
            </Text>
          </LinkCard>
        ))}
      </SimpleGrid>
    </PageFrame>
  );
}
