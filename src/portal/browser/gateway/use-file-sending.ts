import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useGateway } from './gateway-context';
import { sendFile } from './send-file';

interface SendingProgress {
  /** How many bytes have gone, and of how many. */
  readonly sent: number;
  readonly of: number;
}

export interface FileSending<Sent> {
  readonly sending: UseMutationResult<Sent, Error, File>;
  readonly progress: SendingProgress;
  /** Why it failed; nothing where its user called it off. */
  readonly problem: Error | null;
  stop(): void;
}

/** Sends files, each with its name, to a path of the gateway, which answers with what became of it. */
export function useFileSending<Sent>(
  path: string,
  query: Readonly<Record<string, string>>,
  onSent: (sent: Sent) => void,
): FileSending<Sent> {
  const gateway = useGateway();
  const [progress, setProgress] = useState<SendingProgress>({ sent: 0, of: 0 });
  const called = useRef(new AbortController());
  const sending = useMutation({
    mutationFn: async (file: File) => {
      const address = new URLSearchParams({ ...query, name: file.name });
      called.current = new AbortController();
      const { signal } = called.current;
      const tell = (bytes: number) => setProgress({ sent: Math.min(bytes, file.size), of: file.size });
      tell(0);
      return JSON.parse(
        await sendFile(gateway, `${path}?${address}`, file, { signal, onSent: tell }),
      ) as Sent;
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
