/** Starts a new import, and lists earlier ones. */
import { Anchor, Button, Group, Stack, Table, Title } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useId } from 'react';
import {
  AnyImportChanged,
  PastImports,
  type PastImportsQuery,
} from '../../../generated/portal/imports/imports';
import { useEvents, useGateway, useViewer } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { StateTag } from '../shell/icon';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { STATE_NAMES } from './import-steps';
import { TakeFile } from './take-file';

type PastImport = PastImportsQuery['imports']['nodes'][number];

const PAGE_SIZE = 25;

export function ImportsPage() {
  const t = useTexts();
  const heading = useId();
  return (
    <PageFrame
      title={t('Import')}
      description={t('Turn a file into records: map its columns, try it with a dry run, then import.')}
    >
      <Stack gap="xl">
        <TakeFile />
        <section aria-labelledby={heading}>
          <Title order={2} size="h4" mb="xs" id={heading}>
            {t('Past imports')}
          </Title>
          <ImportList label={heading} />
        </section>
      </Stack>
    </PageFrame>
  );
}

function ImportList({ label }: { readonly label: string }) {
  const t = useTexts();
  const gateway = useGateway();
  const queries = useQueryClient();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [PastImports.name],
    queryFn: ({ pageParam, signal }) =>
      gateway.execute(PastImports, { first: PAGE_SIZE, after: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ imports: { pageInfo } }) => (pageInfo.hasNextPage ? pageInfo.endCursor : undefined),
  });
  const look = useCallback(() => void queries.invalidateQueries({ queryKey: [PastImports.name] }), [queries]);
  useEvents(AnyImportChanged, {}, look, look);
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const imports = data.pages.flatMap((page) => page.imports.nodes);
  if (imports.length === 0) return <EmptyState icon="upload" title={t('No imports yet')} />;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard. */}
      <section className="table-scroll" tabIndex={0} aria-labelledby={label}>
        <Table className="stacked-table">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('File')}</Table.Th>
              <Table.Th>{t('Collection')}</Table.Th>
              <Table.Th>{t('State')}</Table.Th>
              <Table.Th className="numeric">{t('New')}</Table.Th>
              <Table.Th className="numeric">{t('Changed')}</Table.Th>
              <Table.Th className="numeric">{t('Errors')}</Table.Th>
              <Table.Th>{t('Received')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {imports.map((one) => (
              <ImportRow key={one.id} one={one} />
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {hasNextPage && (
        <Group mt="sm">
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('Older imports')}
          </Button>
        </Group>
      )}
    </>
  );
}

function ImportRow({ one }: { readonly one: PastImport }) {
  const t = useTexts();
  const formats = useFormats();
  const { collections } = useViewer();
  const { id, name, collection, state, counts, createdAt } = one;
  return (
    <Table.Tr>
      <Table.Td className="wrapped">
        <Anchor component={Link} to={`/portal/imports/${id}`} size="sm">
          {name}
        </Anchor>
      </Table.Td>
      <Table.Td data-label={t('Collection')}>
        {collections.find((known) => known.name === collection)?.title ?? collection}
      </Table.Td>
      <Table.Td data-label={t('State')}>
        <StateTag state={state}>{t(STATE_NAMES[state])}</StateTag>
      </Table.Td>
      <Table.Td className="numeric" data-label={t('New')}>
        {formats.number(counts.created)}
      </Table.Td>
      <Table.Td className="numeric" data-label={t('Changed')}>
        {formats.number(counts.updated)}
      </Table.Td>
      <Table.Td className="numeric" data-label={t('Errors')}>
        {formats.number(counts.refused)}
      </Table.Td>
      <Table.Td data-label={t('Received')}>{formats.instant(createdAt)}</Table.Td>
    </Table.Tr>
  );
}
