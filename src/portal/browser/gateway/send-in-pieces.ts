import type { GatewayClient } from './gateway-client';
import { GatewayProblem } from './gateway-problem';
import { type SendFileOptions, sendBody } from './send-file';

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
export async function sendInPieces(
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

  /** `undefined` where the gateway is not reached either. */
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

/** Whether a failure may be over the next time: the line, a gateway that starts anew, an offset. */
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
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
