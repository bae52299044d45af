import type { Database } from '../../store/database/database.js';
import { liveRecordsIn } from '../../store/sql/records-of.js';
import { sql } from '../../store/sql.js';
import type { UserRef } from './sessions.js';
import type { PasswordOwner } from './why-guessable.js';

/** The words a user's new password must not contain, and the hash of the current one. */
export async function findPasswordOwner(
  database: Database,
  { domainId, userId }: UserRef,
): Promise<{ readonly owner: PasswordOwner; readonly presentHash: string | undefined }> {
  // Two queries, because records may be on another server than logins.
  const [user] = await database.query<{ userName: string; name: string; email: string }>(sql`
    select coalesce(r.data ->> 'user_name', '') as "userName", coalesce(r.data ->> 'name', '') as name,
      coalesce(r.data ->> 'email', '') as email
    from records r
    where ${liveRecordsIn(domainId, 'pltf_user')} and r.id = ${userId}`);
  const [login] = await database.query<{ domainName: string | null; hash: string | null }>(sql`
    select
      (select name from domains where id = ${domainId}) as "domainName",
      (select password_hash from credentials where domain_id = ${domainId} and user_id = ${userId}) as hash`);
  const { userName, name, email } = user ?? { userName: '', name: '', email: '' };
  return {
    owner: { userName, name, email, domainName: login?.domainName ?? '' },
    presentHash: login?.hash ?? undefined,
  };
}
