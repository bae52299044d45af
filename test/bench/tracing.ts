/** `npm run bench -- tracing`: what traces cost, as they are by default, and with every request told of. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compareGateways } from './gateways.js';

/** `only`: the workloads, by their names; empty: both. */
export async function benchTracing(databaseUrl: string, only: readonly string[]): Promise<void> {
  const collector = await startCollector();
  try {
    const { port } = collector.address() as AddressInfo;
    const on = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    const gateways = new Map<string, Readonly<Record<string, string>>>([
      ['no traces', {}],
      // What differs between these two is what the measure cannot tell.
      ['nor here', {}],
      ['traces', on],
      ['of every request', { ...on, TRACES_PER_SECOND: '1000000' }],
    ]);
    await compareGateways({ databaseUrl, gateways, workloads: only.length > 0 ? only : ['w1', 'w2'] });
  } finally {
    collector.close();
  }
}

/** Takes what it is sent. */
async function startCollector(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
