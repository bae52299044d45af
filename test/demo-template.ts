/**
 * Databases with the demo school in them. Making a school of 120 students takes seven seconds of a
 * processor and copying it half of one: the first test file of a run that needs a school of some size makes
 * it, and that one and all others get copies.
 */
import { createHash } from 'node:crypto';
import { seedSchool } from '../src/cli/seed-command.js';
import { openServices } from '../src/gateway/compose/services.js';
import { parseConfig } from '../src/gateway/config/config.js';
import type { DemoOptions } from '../src/school/demo/demo-options.js';
import { createTemplate, createTestDatabase, type TestDatabase } from './database.js';

/** A migrated database with the school of these options alone. The caller drops it. */
export async function createDemoDatabase(demo: DemoOptions): Promise<TestDatabase> {
  const sizes = createHash('sha256').update(JSON.stringify(demo)).digest('hex').slice(0, 12);
  const template = await createTemplate(`demo_${sizes}`, (url) => seed(url, demo));
  return await createTestDatabase({ template });
}

async function seed(databaseUrl: string, demo: DemoOptions): Promise<void> {
  const services = await openServices({
    config: parseConfig({ DATABASE_URL: databaseUrl }),
    onFault: (task, error) => {
      throw new Error(task, { cause: error });
    },
  });
  try {
    await seedSchool(services, { ...demo, progress: { show() {}, note() {}, stop() {} } });
  } finally {
    await services.close();
  }
}
