/** The reports that the viewer may run, grouped by topic. */
import { SimpleGrid, Stack, Text } from '@mantine/core';
import { REPORT_TOPICS } from '../../../generated/portal/report-topics';
import { TOPICS } from '../../explore/example-operation';
import { useViewer, type Viewer } from '../gateway/use-gateway';
import { inOrderOfTitle, say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { LinkCard } from '../shell/link-card';
import { FindInput, useAddress } from '../shell/page-filter';
import { containsWords } from '../shell/sort-rows';
import { EmptyState, PageFrame, TitledSection } from '../shell/states';

export function ReportsPage() {
  const reports = inOrderOfTitle(useViewer().reports);
  const [{ find }, , field] = useAddress({ find: '' });
  const found = reports.filter(({ name, title, description }) =>
    containsWords(`${name} ${title} ${say(description)}`, find),
  );
  return (
    <PageFrame
      title={t('Reports')}
      description={t('{count, plural, one {# report} other {# reports}} you can run', {
        count: reports.length,
      })}
      actions={<FindInput label={t('Find a report')} {...field('find')} />}
    >
      {found.length === 0 && <EmptyState icon="search" title={t('No reports match')} />}
      <Stack gap="xl">
        {[...TOPICS, ''].map((topic) => (
          <ReportGroup
            key={topic}
            topic={topic}
            reports={found.filter((report) => (REPORT_TOPICS[report.field] ?? '') === topic)}
          />
        ))}
      </Stack>
    </PageFrame>
  );
}

interface ReportGroupProps {
  /** Empty for reports that the library does not contain. */
  readonly topic: string;
  readonly reports: Viewer['reports'];
}

function ReportGroup({ topic, reports }: ReportGroupProps) {
  if (reports.length === 0) return null;
  return (
    <TitledSection title={topic === '' ? t('Other reports') : say(topic)} mb="sm">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
        {reports.map(({ name, title, description }) => (
          <LinkCard key={name} to={`/portal/reports/${name}`} title={title} level={3}>
            <Text c="dimmed" lineClamp={3}>
              <CodeSpans text={say(description)} />
            </Text>
          </LinkCard>
        ))}
      </SimpleGrid>
    </TitledSection>
  );
}
