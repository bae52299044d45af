/** Starts a new import, and lists earlier ones. */
import { Card, Group, Select, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import {
  AnyImportChanged,
  PastImports,
  type PastImportsQuery,
} from '../../../generated/portal/imports/imports';
import { useFileSending } from '../gateway/use-file-sending';
import { useAskAnew, useEvents, useListedPages, useTitleOf, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { Icon, StateTag, WarningNotice } from '../shell/icon';
import { ListTable, MoreButton } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame, ProblemState, TitledSection } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { IMPORT_STATES } from './import-steps';

const PAGE_SIZE = 25;

export function ImportsPage() {
  return (
    <PageFrame
      title={t('Import')}
      description={t('Turn a file into records: map its columns, try it with a dry run, then import.')}
    >
      <Stack gap="xl">
        <TakeFile />
        <TitledSection title={t('Past imports')}>
          <ImportList />
        </TitledSection>
      </Stack>
    </PageFrame>
  );
}

function ImportList() {
  const titleOf = useTitleOf();
  const askAnew = useAskAnew();
  const imports = useListedPages(
    PastImports,
    (after) => ({ first: PAGE_SIZE, after }),
    (result) => result.imports,
  );
  const look = () => void askAnew([PastImports]);
  useEvents(AnyImportChanged, {}, look, look);
  return (
    <Answered of={imports} empty={<EmptyState icon="upload" title={t('No imports yet')} />}>
      {(rows) => (
        <>
          <ListTable<PastImportsQuery['imports']['nodes'][number]>
            label={t('Past imports')}
            rows={rows}
            columns={[
              [
                t('File'),
                ({ id, name }) => <TextLink to={`/portal/imports/${id}`}>{name}</TextLink>,
                'wrapped',
              ],
              [t('Collection'), ({ collection }) => titleOf(collection)],
              [t('State'), ({ state }) => <StateTag state={state}>{t(IMPORT_STATES[state].name)}</StateTag>],
              [t('New'), ({ counts }) => formats.number(counts.created), 'numeric'],
              [t('Changed'), ({ counts }) => formats.number(counts.updated), 'numeric'],
              [t('Errors'), ({ counts }) => formats.number(counts.refused), 'numeric'],
              [t('Received'), ({ createdAt }) => formats.instant(createdAt)],
            ]}
          />
          <MoreButton more={imports.more}>{t('Older imports')}</MoreButton>
        </>
      )}
    </Answered>
  );
}

/** The first step: the collection and the file, which can be dropped or picked. */
function TakeFile() {
  const navigate = useNavigate();
  const [{ collection }, change] = useAddress({ collection: '' });
  const [isOver, setIsOver] = useState(false);
  const [warning, setWarning] = useState('');
  const choices = useViewer().collections.filter(
    ({ canRead, canCreate, canUpdate }) => canRead && canCreate && canUpdate,
  );
  const { sending, progress, problem, stop } = useFileSending(
    '/imports',
    { collection },
    ({ id }) => void navigate({ to: `/portal/imports/${id}` }),
  );
  const take = (file: File) => {
    setWarning(file.size > 0 ? '' : t('{name} is empty: it has not one byte.', { name: file.name }));
    if (file.size > 0) sending.mutate(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    const { files } = event.dataTransfer;
    const [file] = files;
    if (!file || collection === '' || sending.isPending) return;
    if (files.length === 1) take(file);
    else
      setWarning(
        t('These are {count} files. An import is of one: drop them one by one.', { count: files.length }),
      );
  };
  return (
    <Card withBorder padding="lg">
      <Stack>
        <Select
          label={t('Import into')}
          placeholder={t('Choose a collection')}
          data={choices.map(({ name, title }) => ({ value: name, label: title }))}
          value={collection === '' ? null : collection}
          onChange={(next) => change({ collection: next ?? '' }, 'replace')}
          nothingFoundMessage={t('Nothing found')}
          searchable
          maw={420}
        />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button within does the same. */}
        <div
          className="drop-zone"
          data-over={isOver || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setIsOver(true);
          }}
          onDragLeave={() => setIsOver(false)}
          onDrop={drop}
        >
          <Icon name="upload" size={28} />
          <Group justify="center">
            <FilePicker onPick={take}>
              {(props) => (
                <TextButton
                  label={t('Choose a file')}
                  isMain
                  {...props}
                  loading={sending.isPending}
                  disabled={collection === ''}
                />
              )}
            </FilePicker>
          </Group>
          <Text c="dimmed" ta="center">
            {collection === ''
              ? t('Choose a collection first, then drop a file here.')
              : t('or drop it here: CSV, TSV, XLSX, JSON, NDJSON or BSON. Nothing is saved yet.')}
          </Text>
        </div>
        {sending.isPending && <SendingProgressBar {...{ progress, stop }} />}
        {warning !== '' && <WarningNotice title={warning} />}
        {problem && warning === '' && <ProblemState problem={problem} />}
      </Stack>
    </Card>
  );
}
