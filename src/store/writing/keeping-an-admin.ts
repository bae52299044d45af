/** No write, by whatever door, leaves a domain without an admin who may log in. */
import { ServiceError } from '../../base/errors.js';
import type { Queryable, Transaction } from '../database/queryable.js';
import { liveRecordsIn } from '../sql/records-of.js';
import { type Sql, sql } from '../sql.js';

/**
 * Runs work that changes or removes users of a domain. A domain that has no admin yet may stay so.
 *
 * @throws CONFLICT if no admin would be left
 */
export async function keepingAnAdmin<T>(
  transaction: Transaction,
  domainId: string,
  work: () => Promise<T>,
): Promise<T> {
  // Locks the rows of all admins: of two who revoke each other's right, the second sees the change of the
  // first.
  const before = await selectAdmins(transaction, domainId, sql`order by r.id for update`);
  const result = await work();
  if (before.length === 0) return result;
  const after = await selectAdmins(transaction, domainId, sql`limit 1`);
  if (after.length > 0) return result;
  throw new ServiceError('CONFLICT', 'This is the last admin who may log in; make another one first.');
}

async function selectAdmins(queryable: Queryable, domainId: string, tail: Sql): Promise<readonly object[]> {
  return await queryable.query(sql`
    select r.id
    from records r
    where ${liveRecordsIn(domainId, 'pltf_user')}
      and r.data -> 'active' = 'true' and r.data -> 'roles' ? 'admin'
    ${tail}`);
}
