/** The collections whose records the viewer may read. */
import { SimpleGrid, Text } from '@mantine/core';
import { CollectionDescriptions } from '../../../generated/portal/records/records';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { inOrderOfTitle, say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { LinkCard } from '../shell/link-card';
import { FindInput, useAddress } from '../shell/page-filter';
import { containsWords } from '../shell/sort-rows';
import { EmptyState, PageFrame } from '../shell/states';

export function CollectionsPage() {
  const collections = inOrderOfTitle(useViewer().collections.filter(({ canRead }) => canRead));
  const { data } = useOperation(CollectionDescriptions, {});
  const described = new Map(data?.collections.map(({ name, description }) => [name, say(description)]));
  const [{ find }, , field] = useAddress({ find: '' });
  const found = collections.filter(({ name, title }) =>
    containsWords(`${name} ${title} ${described.get(name) ?? ''}`, find),
  );
  return (
    <PageFrame
      title={t('Records')}
      description={t('{count, plural, one {# collection} other {# collections}} you can read', {
        count: collections.length,
      })}
      actions={<FindInput label={t('Find a collection')} {...field('find')} />}
    >
      {found.length === 0 && <EmptyState icon="search" title={t('No collections match')} />}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" className="plain-list">
        {found.map(({ name, title }) => (
          <LinkCard key={name} to={`/portal/records/${name}`} title={title}>
            <Text c="dimmed" lineClamp={2} className="collection-description">
              <CodeSpans text={described.get(name) ?? ''} />
            </Text>
            <Text size="xs" c="dimmed" ff="monospace" mt="xs">
              {name}
            </Text>
          </LinkCard>
        ))}
      </SimpleGrid>
    </PageFrame>
  );
}
