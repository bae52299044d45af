import { Image, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { GatewayClient } from '../gateway/gateway-client';
import { useGateway } from '../gateway/gateway-context';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { ProblemState } from '../shell/states';
import type { ListedFile } from './listed-file';

/** Bitmap formats only: an SVG is a document that may contain scripts and addresses. */
const PICTURE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const MAX_BYTES = 10_000_000;

/** Previews a file if its uploader declared it a picture. */
export function PicturePreview({ file }: { readonly file: ListedFile }) {
  const t = useTexts();
  const { bytes } = useFormats();
  if (!PICTURE_TYPES.includes(file.contentType)) return null;
  if (file.size <= MAX_BYTES) return <Picture key={file.id} file={file} />;
  return (
    <Text size="sm" c="dimmed">
      {t('Pictures over {most} are not previewed. Download it to see it.', {
        most: bytes(MAX_BYTES),
      })}
    </Text>
  );
}

function Picture({ file }: { readonly file: ListedFile }) {
  const t = useTexts();
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
    return (
      <Text size="sm" c="dimmed">
        {t('This picture cannot be shown in a browser.')}
      </Text>
    );
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
