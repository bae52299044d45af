/** The first step: which collection, and the file, dropped or picked. */
import { Button, Card, FileButton, Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type DragEvent, useRef, useState } from 'react';
import { useGateway } from '../gateway/gateway-context';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { ProblemState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';
import { sendFile } from './send-file';

export function TakeFile() {
  const t = useTexts();
  const formats = useFormats();
  const gateway = useGateway();
  const navigate = useNavigate();
  const [{ collection }, change] = useAddress({ collection: '' });
  const [isOver, setIsOver] = useState(false);
  const [sent, setSent] = useState({ bytes: 0, of: 0 });
  const stop = useRef(() => {});
  const choices = useViewer().collections.filter(
    ({ canRead, canCreate, canUpdate }) => canRead && canCreate && canUpdate,
  );
  const take = useMutation({
    mutationFn: async (file: File) => {
      const address = new URLSearchParams({ collection, name: file.name });
      const called = new AbortController();
      stop.current = () => called.abort();
      setSent({ bytes: 0, of: file.size });
      const onSent = (bytes: number) => setSent({ bytes, of: file.size });
      const answer = await sendFile(gateway, `/imports?${address}`, file, { signal: called.signal, onSent });
      return JSON.parse(answer) as { readonly id: string };
    },
    onSuccess: ({ id }) => void navigate({ to: `/portal/imports/${id}` }),
  });
  const gone = Math.min(sent.bytes, sent.of);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    const [file] = event.dataTransfer.files;
    if (file && collection !== '' && !take.isPending) take.mutate(file);
  };
  return (
    <Card withBorder padding="lg">
      <Stack>
        <Select
          label={t('Where the records go')}
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
            <FileButton onChange={(file) => file && take.mutate(file)}>
              {(props) => (
                <Button {...props} loading={take.isPending} disabled={collection === ''}>
                  {t('Choose a file')}
                </Button>
              )}
            </FileButton>
          </Group>
          <Text size="sm" c="dimmed" ta="center">
            {collection === ''
              ? t('Choose a collection first; then a file can be dropped here.')
              : t('or drop it here: CSV, TSV, XLSX, Parquet, JSON, NDJSON or BSON. Nothing is written yet.')}
          </Text>
        </div>
        {take.isPending && (
          <Group>
            <Progress
              className="grow"
              size="lg"
              value={sent.of === 0 ? 100 : (100 * gone) / sent.of}
              aria-label={t('Progress')}
            />
            <Text size="sm" role="status" className="tabular">
              {t('{sent} of {all} sent', { sent: formats.bytes(gone), all: formats.bytes(sent.of) })}
            </Text>
            <Button variant="default" size="compact-sm" onClick={() => stop.current()}>
              {t('Cancel')}
            </Button>
          </Group>
        )}
        {take.error && take.error.name !== 'AbortError' && <ProblemState problem={take.error} />}
      </Stack>
    </Card>
  );
}
