import type { GatewayClient } from './gateway-client';
import type { CallerHeaders } from './graphql-headers';

export interface SendFileOptions {
  readonly signal: AbortSignal;
  /** Told how many bytes have gone. */
  onSent(bytes: number): void;
}

/**
 * Posts a file as the user and gives the text of the answer. By `XMLHttpRequest`, for `fetch` does not tell
 * how far it is.
 *
 * @throws GatewayProblem, and the reason of the signal where it was called off
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
  /** Those of the user among them. */
  readonly headers: CallerHeaders;
  readonly body: Blob;
}

/** Sends one request, and tells how far it is. @throws TypeError where the gateway is not reached */
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
    // As `fetch` says it.
    request.onerror = () => reject(new TypeError('the gateway was not reached'));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });
}
