/**
 * The school that is measured: the demo school, large enough for 300,000 attendance records, and a key to ask
 * with.
 */

import { operatorScope } from '../../src/cli/command-line.js';
import { seedSchool } from '../../src/cli/seed.js';
import { openServices, type Services } from '../../src/compose/services.js';
import { parseConfig } from '../../src/config.js';
import { DEMO_DEFAULTS } from '../../src/demo/demo-options.js';
import type { Scope } from '../../src/model/scope.js';
import { FRESH_ID } from './fresh-id.js';

export interface BenchSchool {
  readonly services: Services;
  readonly scope: Scope;
  /** An API key of the admin. */
  readonly key: string;
  readonly recordCount: number;
  close(): Promise<void>;
}

/** A fixed day, so that every run measures the same school. */
const TODAY = '2026-11-20';
const STUDENTS = 2100;

export async function prepareSchool(url: string): Promise<BenchSchool> {
  const services = await openServices({
    config: parseConfig({ DATABASE_URL: url, POOL_SIZE: '4' }),
    onFault: (task, error) => process.stderr.write(`bench: ${task}: ${String(error)}\n`),
  });
  if (services.domains.top() === undefined) {
    await seedSchool(services, { ...DEMO_DEFAULTS, students: STUDENTS, today: TODAY });
    await services.database.pool.query('vacuum analyze records');
  }
  // What an earlier run wrote would stand in the way of this one.
  await services.database.pool.query("delete from records where collection = 'task' and id like $1", [
    `${FRESH_ID}%`,
  ]);
  const counted = await services.database.pool.query<{ count: number }>('select count(*)::int from records');
  const recordCount = counted.rows[0]?.count ?? 0;
  const scope = operatorScope(services, undefined);
  const { key } = await services.apiKeys.create(scope, {
    name: 'bench',
    userId: 'usr-admin',
    scopes: { collections: { '*': ['read', 'create', 'update', 'delete'] }, reports: ['*'], scripts: [] },
  });
  return { services, scope, key, recordCount, close: () => services.close() };
}
