import type { GatewayClient } from './gateway-client';

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
  const response = await gateway.sendAsUser((token) => post(path, file, token, options));
  return await response.text();
}

function post(
  path: string,
  file: File,
  token: string,
  { signal, onSent }: SendFileOptions,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    request.open('POST', path);
    request.setRequestHeader('authorization', `Bearer ${token}`);
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      const headers = { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' };
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    // As `fetch` says it.
    request.onerror = () => reject(new TypeError('the gateway was not reached'));
    request.onabort = () => reject(signal.reason);
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
