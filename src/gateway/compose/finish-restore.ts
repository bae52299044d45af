import { z } from 'zod';
import {
  endUnfinishedRestore,
  findUnfinishedRestore,
  type UnfinishedRestore,
} from '../../services/backup/restore.js';
import { DoneErasure } from '../../services/persons/identity.js';
import type { Persons } from '../../services/persons/persons.js';
import type { Domains } from '../../store/catalog/domains.js';
import { lockUntilDisconnected } from '../../store/database/advisory-lock.js';
import { cancelOnAbort } from '../../store/database/cancellation.js';
import type { Database } from '../../store/database/database.js';

/** Held by the process that finishes; others that start meanwhile wait. */
const RESTORE_LOCK = 0x72657374;

export interface FinishOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

interface Restored {
  readonly persons: Persons;
  readonly domains: Domains;
  readonly database: Database;
}

/**
 * Does the rest of a committed restore once the indexes exist: statistics, and the erasures made after the
 * backup. After an interruption, the next call continues. Does nothing in other databases.
 *
 * @throws the signal's reason
 */
export async function finishRestore(
  services: Restored,
  { signal, onProgress = () => {} }: FinishOptions,
): Promise<void> {
  const { database } = services;
  if ((await findUnfinishedRestore(database.pool)) === undefined) return;
  // Statistics take as long as the database is large, however long a statement of a gateway may run.
  const pool = database.openPool({ size: 1, applicationName: 'campus restore', statementTimeoutMs: 0 });
  try {
    const client = await pool.connect();
    try {
      await lockUntilDisconnected(client, RESTORE_LOCK);
      const restore = await findUnfinishedRestore(client);
      if (restore === undefined) return;
      onProgress('collecting statistics');
      await cancelOnAbort(client, signal, () => client.query('analyze'));
      await repeatErasures(services, restore, { signal, onProgress });
      await endUnfinishedRestore(client);
    } finally {
      client.release(true);
    }
  } finally {
    await pool.end();
  }
}

async function repeatErasures(
  { persons, domains }: Omit<Restored, 'database'>,
  { erasures, createdAt }: UnfinishedRestore,
  { signal, onProgress = () => {} }: FinishOptions,
): Promise<void> {
  if (erasures.length === 0) {
    onProgress(`persons erased after ${createdAt} exist again: campus person erase-again <list>`);
    return;
  }
  onProgress(`repeating ${erasures.length} erasures`);
  const erased = await persons.eraseAgain(domains, z.array(DoneErasure).parse(erasures), signal);
  onProgress(`persons erased again: ${erased}`);
}
