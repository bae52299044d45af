/** `npm run bench -- replicas`: what a replica costs those who write, and spares the primary of reads. */
import { startReplicatedServers } from '../replicated-servers.js';
import { compareGateways } from './gateways.js';

export async function benchReplicas(): Promise<void> {
  const servers = await startReplicatedServers(1);
  try {
    const replicas = servers.standbys.map(({ url }) => url).join();
    const gateways = new Map<string, Readonly<Record<string, string>>>([
      ['no replica', {}],
      ['a replica', { DATABASE_REPLICA_URLS: replicas }],
    ]);
    await compareGateways({ databaseUrl: servers.primary.url, gateways, workloads: ['w2', 'w5'] });
  } finally {
    await servers.close();
  }
}
