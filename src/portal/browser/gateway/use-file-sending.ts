import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { GatewayProblem } from '../session/gateway-problem';
import type { CallerHeaders } from '../session/graphql-headers';
import type { GatewayClient } from './gateway-client';
import { useGateway } from './use-gateway';

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
  if (path === '/files') return { id: await sendInPieces(gateway, file, query, options), name: file.name };
  const { collection = '' } = query;
  const fileId = await sendInPieces(gateway, file, { import: collection }, options);
  const address = new URLSearchParams({ ...query, fileId });
  const taken = await gateway.fetchAnswer(`/imports?${address}`, { method: 'POST', signal: options.signal });
  return (await taken.json()) as SentFile;
}

interface SendFileOptions {
  readonly signal: AbortSignal;
  /** Called with the number of bytes sent. */
  onSent(bytes: number): void;
}

/**
 * Posts a file as the user, and returns the text of the answer. It uses `XMLHttpRequest`, because `fetch`
 * reports no progress.
 *
 * @throws GatewayProblem; the reason of the signal if it was cancelled
 */
async function sendFile(
  gateway: GatewayClient,
  path: string,
  file: File,
  options: SendFileOptions,
): Promise<string> {
  const headers = { 'content-type': file.type === '' ? 'application/octet-stream' : file.type };
  const response = await gateway.sendAsUser((credentials) =>
    sendBody({ method: 'POST', path, headers: { ...headers, ...credentials }, body: file }, options),
  );
  return await response.text();
}

interface SentBody {
  readonly method: string;
  readonly path: string;
  /** Including those of the user. */
  readonly headers: CallerHeaders;
  readonly body: Blob;
}

/** Sends one request and reports its progress. @throws TypeError if the gateway cannot be reached */
function sendBody(
  { method, path, headers, body }: SentBody,
  { signal, onSent }: SendFileOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open(method, path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      const said = { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' };
      // An answer without content must have no text, not even an empty one.
      resolve(new Response(request.responseText || null, { status: request.status, headers: said }));
    };
    // The same error as that of `fetch`.
    request.onerror = () => reject(new TypeError('the gateway was not reached'));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });
}

const TUS = { 'tus-resumable': '1.0.0' };
/** At 30 KB a second, a piece still arrives within the time limit of a request. */
const PIECE_BYTES = 8 * 1024 * 1024;
/** The longest wait after each consecutive failure; after the last one, the upload fails. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 30_000, 30_000, 30_000, 30_000];

/**
 * Sends a file in pieces by the tus protocol, and returns its id. After a lost connection, the upload resumes
 * with what the gateway has received. A cancelled upload is deleted there.
 *
 * @throws GatewayProblem; the reason of the signal if it was cancelled
 */
async function sendInPieces(
  gateway: GatewayClient,
  file: File,
  metadata: Readonly<Record<string, string>>,
  { signal, onSent }: SendFileOptions,
): Promise<string> {
  const described = { filename: file.name, ...(file.type !== '' && { filetype: file.type }), ...metadata };
  const headers = { ...TUS, 'upload-length': String(file.size), 'upload-metadata': printMetadata(described) };
  const opened = await gateway.fetchAnswer('/files', { method: 'POST', headers, signal });
  const path = opened.headers.get('location') ?? '';
  try {
    let failures = 0;
    for (let offset = 0; offset < file.size; ) {
      try {
        const piece = file.slice(offset, offset + PIECE_BYTES);
        await sendPiece(path, piece, offset);
        offset += piece.size;
        failures = 0;
      } catch (fault) {
        const wait = WAITS_MS[failures];
        if (wait === undefined || !mayGoOn(fault)) throw fault;
        failures += 1;
        await pause(wait, signal);
        const reached = await offsetAtGateway(path);
        // Any progress resets the count of failures.
        if (reached !== undefined && reached > offset) failures = 0;
        offset = reached ?? offset;
      }
    }
    return path.slice(path.lastIndexOf('/') + 1);
  } catch (fault) {
    // If this fails, the gateway deletes the abandoned upload later.
    void gateway.fetch(path, { method: 'DELETE', headers: TUS }).catch(() => undefined);
    throw fault;
  }

  async function sendPiece(to: string, piece: Blob, offset: number): Promise<void> {
    const of = { ...TUS, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
    const tell = (bytes: number) => onSent(offset + bytes);
    await gateway.sendAsUser((credentials) =>
      sendBody(
        { method: 'PATCH', path: to, headers: { ...of, ...credentials }, body: piece },
        { signal, onSent: tell },
      ),
    );
  }

  /** `undefined` if the gateway cannot be reached. */
  async function offsetAtGateway(of: string): Promise<number | undefined> {
    try {
      const answer = await gateway.fetchAnswer(of, { method: 'HEAD', headers: TUS, signal });
      return Number(answer.headers.get('upload-offset'));
    } catch (fault) {
      if (mayGoOn(fault)) return undefined;
      throw fault;
    }
  }
}

/** Whether a retry may succeed: after a lost connection, a restart of the gateway, a wrong offset. */
function mayGoOn(fault: unknown): boolean {
  if (!(fault instanceof GatewayProblem)) return false;
  return fault.kind === 'unreachable' || ['CONFLICT', 'UNAVAILABLE', 'MAINTENANCE'].includes(fault.code);
}

function printMetadata(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${btoa(String.fromCodePoint(...new TextEncoder().encode(value)))}`)
    .join(',');
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => {
    for (const end of [signal, AbortSignal.timeout(ms)]) end.addEventListener('abort', resolve);
  });
  signal.throwIfAborted();
}
