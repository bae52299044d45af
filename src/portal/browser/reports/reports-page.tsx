/** The reports that the viewer may run, to choose one. */
import { SimpleGrid, Text } from '@mantine/core';
import { useInOrderOfTitle } from '../language/use-in-order-of-title';
import { useReportWords } from '../language/use-report-words';
import { useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-spans';
import { FindInput } from '../shell/find-input';
import { LinkCard } from '../shell/link-card';
import { PageFrame } from '../shell/page-frame';
import { EmptyState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';

export function ReportsPage() {
  const t = useTexts();
  const say = useReportWords();
  const inOrder = useInOrderOfTitle();
  const reports = inOrder(
    useViewer().reports.map(({ name, title, description }) => ({
      name,
      title: say(title),
      description: say(description),
    })),
  );
  const [{ find }, change] = useAddress({ find: '' });
  const words = find.toLowerCase().split(/\s+/);
  const found = reports.filter(({ name, title, description }) => {
    const text = `${name} ${title} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <PageFrame
      title={t('Reports')}
      description={t('{count, plural, one {# report} other {# reports}} that you may run', {
        count: reports.length,
      })}
      actions={
        <FindInput
          label={t('Find a report')}
          value={find}
          onFind={(text) => change({ find: text }, 'replace')}
        />
      }
    >
      {found.length === 0 && <EmptyState icon="search" title={t('No report has these words')} />}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
        {found.map(({ name, title, description }) => (
          <LinkCard key={name} to={`/portal/reports/${name}`} title={title}>
            <Text size="sm" c="dimmed" lineClamp={3}>
              <CodeSpans text={description} />
            </Text>
          </LinkCard>
        ))}
      </SimpleGrid>
    </PageFrame>
  );
}
