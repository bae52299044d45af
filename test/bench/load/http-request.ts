/** A request as data, and as the bytes that a load generator sends over and over. */

export interface HttpRequest {
  readonly method?: 'GET' | 'POST';
  /** The path and its parameters, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function printRequest(request: HttpRequest, host: string): Buffer {
  const body = Buffer.from(request.body ?? '');
  const headers = {
    Host: host,
    ...request.headers,
    ...(request.body !== undefined && { 'Content-Length': String(body.length) }),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${request.method ?? 'GET'} ${request.path} HTTP/1.1\r\n${head.join('')}\r\n`),
    body,
  ]);
}
