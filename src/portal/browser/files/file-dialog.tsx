/** One file: its details, a preview if it is a picture, and its actions. */
import { Code, Group, Image, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type FilesOfPortalQuery, RemoveFile } from '../../../generated/portal/files/files';
import { type GatewayClient } from '../gateway/gateway-client';
import { useGateway, useTitleOf } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { ChangeDialog } from '../shell/confirm-dialog';
import { FactsTable } from '../shell/link-card';
import { ProblemState } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { useNamesOfRecords, useUserNames } from '../shell/use-record-labels';

/** A file, as the page lists it and its dialog shows it. */
export type ListedFile = FilesOfPortalQuery['files']['nodes'][number];

interface FileDialogProps {
  readonly file: ListedFile;
  onDownload(file: ListedFile): void;
  onRemove(file: ListedFile): void;
  onClose(): void;
}

export function FileDialog({ file, onDownload, onRemove, onClose }: FileDialogProps) {
  const nameOf = useUserNames([file.createdBy]);
  const owner = useOwningRecords([file])(file);
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t('Type'), file.contentType],
    [t('Size'), formats.bytes(file.size)],
    [t('Added'), `${formats.instant(file.createdAt)}, ${nameOf(file.createdBy)}`],
    [
      t('Belongs to'),
      owner && (
        <TextLink to={owner.to} search={owner.search}>
          {owner.text}
        </TextLink>
      ),
    ],
    [t('Shared with'), file.roles.join(', ')],
    ['SHA-256', <Code key="sha256">{file.sha256}</Code>],
  ];
  return (
    <Modal opened size="lg" onClose={onClose} title={<span className="wrapped">{file.name}</span>}>
      <Stack>
        <PicturePreview file={file} />
        <FactsTable facts={facts} />
        <Group justify="flex-end">
          <TextButton label={t('Remove')} onClick={() => onRemove(file)} />
          <TextButton label={t('Download')} isMain icon="download" onClick={() => onDownload(file)} />
        </Group>
      </Stack>
    </Modal>
  );
}

interface RemoveFileDialogProps {
  readonly file: { readonly id: string; readonly name: string };
  /** The queries that list the file. */
  readonly outdated: readonly { readonly name: string }[];
  onRemoved(): void;
  onClose(): void;
}

/**
 * Warns before a file is removed that it cannot be restored, because the gateway keeps no versions of files.
 */
export function RemoveFileDialog({ file, outdated, onRemoved, onClose }: RemoveFileDialogProps) {
  return (
    <ChangeDialog
      title={t('Remove {name}', { name: file.name })}
      action={t('Remove')}
      isDangerous
      change={RemoveFile}
      variables={{ id: file.id }}
      {...{ outdated, onClose }}
      onDone={onRemoved}
    >
      {t('The file is deleted for everyone. This cannot be undone.')}
    </ChangeDialog>
  );
}

/** Bitmap formats only: an SVG is a document that may contain scripts and addresses. */
const PICTURE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const MAX_BYTES = 10_000_000;

/** Previews a file if its uploader declared it a picture. */
function PicturePreview({ file }: { readonly file: ListedFile }) {
  if (!PICTURE_TYPES.includes(file.contentType)) return null;
  if (file.size <= MAX_BYTES) return <Picture key={file.id} file={file} />;
  return (
    <Text c="dimmed">
      {t('Pictures over {most} are not previewed. Download it to see it.', {
        most: formats.bytes(MAX_BYTES),
      })}
    </Text>
  );
}

function Picture({ file }: { readonly file: ListedFile }) {
  const gateway = useGateway();
  const [isBroken, setBroken] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['picture', file.id],
    queryFn: () => readPicture(gateway, file),
    // A file never changes. A large one is cached only while it is shown.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <ProblemState problem={error} />;
  if (data === undefined) return <Skeleton height={240} />;
  if (isBroken) {
    return <Text c="dimmed">{t('This picture cannot be shown in a browser.')}</Text>;
  }
  return <Image src={data} alt={file.name} mah={360} fit="contain" onError={() => setBroken(true)} />;
}

/** Returns the content as a data address. An image element runs nothing, whatever the content. */
async function readPicture(gateway: GatewayClient, { id, contentType }: ListedFile): Promise<string> {
  const content = await gateway.fetchFile(`/files/${id}`);
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([content], { type: contentType }));
  });
}

/** The path from which the gateway serves a file. */
export function downloadOf({ id, name }: { readonly id: string; readonly name: string }) {
  return { path: `/files/${id}`, name };
}

interface LinkedFile {
  readonly collection: string | null;
  readonly recordId: string | null;
}

interface OwningRecord {
  readonly to: string;
  /** Opens the tab with the files. */
  readonly search: Readonly<Record<string, string>>;
  /** The collection and the label of the record, or its id if the label is unknown. */
  readonly text: string;
}

/** The records that files belong to. `undefined` for a file without a record. */
export function useOwningRecords(
  files: readonly LinkedFile[],
): (file: LinkedFile) => OwningRecord | undefined {
  const titleOf = useTitleOf();
  const nameOf = useNamesOfRecords(
    files.flatMap(({ collection, recordId }) =>
      collection !== null && recordId !== null ? [{ collection, recordId }] : [],
    ),
  );
  return ({ collection, recordId }) => {
    if (collection === null || recordId === null) return undefined;
    return {
      to: `/portal/records/${collection}/${encodeURIComponent(recordId)}`,
      search: { tab: 'files' },
      text: `${titleOf(collection)}: ${nameOf({ collection, recordId })}`,
    };
  };
}
