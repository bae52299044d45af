import type { GatewayClient } from './gateway-client';
import type { CallerHeaders } from './graphql-headers';

export interface SendFileOptions {
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
export async function sendFile(
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
export function sendBody(
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
