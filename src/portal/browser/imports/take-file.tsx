/** The first step: the collection and the file, which can be dropped or picked. */
import { Button, Card, Group, Select, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, useState } from 'react';
import { useFileSending } from '../gateway/use-file-sending';
import { useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { FilePicker, SendingProgressBar } from '../shell/file-picker';
import { Icon, WarningNotice } from '../shell/icon';
import { useAddress } from '../shell/page-filter';
import { ProblemState } from '../shell/states';

export function TakeFile() {
  const t = useTexts();
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
                <Button {...props} loading={sending.isPending} disabled={collection === ''}>
                  {t('Choose a file')}
                </Button>
              )}
            </FilePicker>
          </Group>
          <Text size="sm" c="dimmed" ta="center">
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
