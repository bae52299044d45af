import { openServices, type Services } from '../../src/gateway/compose/services.js';
import { parseConfig } from '../../src/gateway/config/config.js';

/** Does the work with the services of a gateway on the database; faults in the background are told. */
export async function withBenchServices<T>(
  databaseUrl: string,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const services = await openServices({
    config: parseConfig({ DATABASE_URL: databaseUrl, POOL_SIZE: '4' }),
    onFault: (task, error) => process.stderr.write(`bench: ${task}: ${String(error)}\n`),
  });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}
