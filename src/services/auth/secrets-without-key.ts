/** Stored secrets that this service cannot decrypt any more. */

import type { Database } from '../../store/database/database.js';
import { sql } from '../../store/sql.js';
import type { TextEncryption } from './text-encryption.js';

/**
 * How many secrets of webhooks and second factors were encrypted with a key that ENCRYPTION_SECRET does not
 * contain. Their deliveries wait, and their users cannot log in by a code.
 */
export async function countSecretsWithoutKey(
  database: Pick<Database, 'query'>,
  encryption: TextEncryption,
): Promise<number> {
  const hasKey = encryption.hasKeyOf(sql`secret`);
  const [row] = await database.query<{ count: number }>(sql`
    select count(*)::int as count
    from (select secret from webhooks union all select secret from second_factors) as stored
    where not ${hasKey}`);
  return row?.count ?? 0;
}
