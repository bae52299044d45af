import { Button, Code, NativeSelect, Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { LogOfScript, type LogOfScriptQueryVariables } from '../../../generated/portal/scripts/scripts';
import { useGateway } from '../gateway/use-gateway';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

const PAGE_SIZE = 100;

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  DEBUG: phrase('Debug'),
  INFO: phrase('Info'),
  WARN: phrase('Warning'),
  ERROR: phrase('Error'),
};

/** The log of a script, the newest line first. */
export function ScriptLogTab({ name }: { readonly name: string }) {
  const t = useTexts();
  const formats = useFormats();
  const gateway = useGateway();
  const [{ level }, change] = useAddress({ level: '' });
  const asked = {
    script: name,
    first: PAGE_SIZE,
    ...(level in LEVEL_NAMES && { level: level as NonNullable<LogOfScriptQueryVariables['level']> }),
  };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [LogOfScript.name, asked],
    queryFn: ({ pageParam, signal }) => gateway.execute(LogOfScript, { ...asked, before: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ scriptLog }) => (scriptLog.length === PAGE_SIZE ? scriptLog.at(-1)?.id : undefined),
  });
  const entries = data?.pages.flatMap(({ scriptLog }) => scriptLog) ?? [];
  return (
    <Stack>
      <NativeSelect
        label={t('Level')}
        value={level}
        onChange={(event) => change({ level: event.currentTarget.value }, 'replace')}
        data={[
          { value: '', label: t('All') },
          ...Object.entries(LEVEL_NAMES).map(([value, label]) => ({ value, label: t(label) })),
        ]}
        maw={220}
      />
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && entries.length === 0 && <EmptyState icon="file" title={t('No log entries')} />}
      {entries.length > 0 && (
        <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table aria-label={t('Log')}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('When')}</Table.Th>
                <Table.Th>{t('Level')}</Table.Th>
                <Table.Th>{t('What')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((entry) => (
                <Table.Tr key={entry.id}>
                  <Table.Td className="one-line">{formats.instant(entry.at)}</Table.Td>
                  <Table.Td>{t(LEVEL_NAMES[entry.level] ?? entry.level)}</Table.Td>
                  <Table.Td className="wrapped">
                    {entry.message} {entry.data !== null && <Code>{JSON.stringify(entry.data)}</Code>}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('Older entries')}
        </Button>
      )}
    </Stack>
  );
}
