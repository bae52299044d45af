import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { GatewayClient } from './gateway-client';
import { useGateway } from './gateway-context';
import { type SendFileOptions, sendFile } from './send-file';

interface SendingProgress {
  /** The bytes sent, and their total. */
  readonly sent: number;
  readonly of: number;
}

/** The result of an upload: the stored file, or the import that reads it. */
interface SentFile {
  readonly id: string;
  readonly name: string;
}

export interface FileSending {
  readonly sending: UseMutationResult<SentFile, Error, File>;
  readonly progress: SendingProgress;
  /** Why it failed; `null` if the user cancelled it. */
  readonly problem: Error | null;
  stop(): void;
}

/** Larger files are sent in pieces, so that a lost connection costs only one piece. */
const PIECES_BEYOND_BYTES = 16 * 1024 * 1024;

/** Sends files with their names to a path of the gateway, which answers with the result. */
export function useFileSending(
  path: '/files' | '/imports',
  query: Readonly<Record<string, string>>,
  onSent: (sent: SentFile) => void,
): FileSending {
  const gateway = useGateway();
  const [progress, setProgress] = useState<SendingProgress>({ sent: 0, of: 0 });
  const called = useRef(new AbortController());
  const sending = useMutation({
    mutationFn: async (file: File) => {
      called.current = new AbortController();
      const { signal } = called.current;
      const tell = (bytes: number) => setProgress({ sent: Math.min(bytes, file.size), of: file.size });
      tell(0);
      const options = { signal, onSent: tell };
      if (file.size > PIECES_BEYOND_BYTES) {
        return await sendLarge(gateway, { path, query, file }, options);
      }
      const address = new URLSearchParams({ ...query, name: file.name });
      return JSON.parse(await sendFile(gateway, `${path}?${address}`, file, options)) as SentFile;
    },
    onSuccess: onSent,
  });
  const { error } = sending;
  return {
    sending,
    progress,
    problem: error?.name === 'AbortError' ? null : error,
    stop: () => called.current.abort(),
  };
}

interface LargeFile {
  readonly path: '/files' | '/imports';
  readonly query: Readonly<Record<string, string>>;
  readonly file: File;
}

async function sendLarge(
  gateway: GatewayClient,
  { path, query, file }: LargeFile,
  options: SendFileOptions,
): Promise<SentFile> {
  const { sendInPieces } = await import('./send-in-pieces');
  if (path === '/files') return { id: await sendInPieces(gateway, file, query, options), name: file.name };
  const { collection = '' } = query;
  const fileId = await sendInPieces(gateway, file, { import: collection }, options);
  const address = new URLSearchParams({ ...query, fileId });
  const taken = await gateway.fetchAnswer(`/imports?${address}`, { method: 'POST', signal: options.signal });
  return (await taken.json()) as SentFile;
}
