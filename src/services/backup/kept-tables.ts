import type { Manifest, TableContent } from './archive-writer.js';
/**
 * Says for each table whether a backup contains it, and if not, why. A test fails for a table that is in
 * neither list, so that whoever adds a table must decide.
 */

export interface KeptTable {
  readonly name: string;
  /**
   * How the rows of a domain are found: by the column that names the domain, or by a condition. `shared`: the
   * rows belong to no domain, and a backup of one domain contains them all. `instance`: the rows belong to
   * the instance, and a backup of one domain contains none of them.
   */
  readonly domain:
    | { readonly column: string }
    | { readonly through: string; readonly owner: string; readonly key: string }
    | 'shared'
    | 'instance';
  /** A condition for the rows that are kept, if not all are. */
  readonly only?: string;
}

const DOMAIN = { column: 'domain' };
const DOMAIN_ID = { column: 'domain_id' };

/** Rows are put back in an order in which none points to one that is not there yet: catalog order decides. */
export const KEPT_TABLES: readonly KeptTable[] = [
  { name: 'domains', domain: { column: 'id' } },
  { name: 'properties', domain: DOMAIN_ID },
  // The list of backups is not part of a backup, and a restored database has channels of its own.
  { name: 'settings', domain: 'instance', only: `name not in ('backups', 'channels')` },
  { name: 'collections', domain: 'shared' },
  { name: 'records', domain: DOMAIN },
  { name: 'credentials', domain: DOMAIN_ID },
  { name: 'second_factors', domain: DOMAIN_ID },
  { name: 'recovery_codes', domain: DOMAIN_ID },
  { name: 'api_keys', domain: DOMAIN_ID },
  { name: 'webhooks', domain: DOMAIN_ID },
  { name: 'idempotency_keys', domain: DOMAIN_ID },
  { name: 'audit_entries', domain: DOMAIN },
  { name: 'receipt_series', domain: DOMAIN },
  { name: 'erasures', domain: DOMAIN },
  { name: 'scripts', domain: DOMAIN_ID },
  { name: 'script_versions', domain: DOMAIN_ID },
  { name: 'script_runs', domain: DOMAIN_ID },
  { name: 'script_log', domain: DOMAIN_ID },
  { name: 'messages', domain: DOMAIN },
  { name: 'message_attachments', domain: { through: 'message_id', owner: 'messages', key: 'id' } },
  // Nobody can read the bytes of an unfinished upload yet.
  { name: 'files', domain: DOMAIN, only: `state = 'ready'` },
  {
    name: 'file_chunks',
    domain: DOMAIN,
    only: `file_id in (select id from files where state = 'ready')`,
  },
  { name: 'imports', domain: DOMAIN },
  { name: 'import_errors', domain: { through: 'import_id', owner: 'imports', key: 'id' } },
  { name: 'import_outcomes', domain: { through: 'import_id', owner: 'imports', key: 'id' } },
  { name: 'import_seen', domain: DOMAIN },
  { name: 'import_mappings', domain: DOMAIN },
  // These three could be computed from the records. They are kept because that would take longer than all
  // else.
  { name: 'fee_months', domain: DOMAIN },
  { name: 'collected_receipts', domain: DOMAIN },
  { name: 'attendance_months', domain: DOMAIN },
];

/** Tables that no backup contains, each with the reason. */
export const LEFT_OUT_TABLES: ReadonlyMap<string, string> = new Map([
  ['_prisma_migrations', 'the manifest names the migrations, and a restore applies them'],
  ['sessions', 'a sign-in that was ended since must not come back: users sign in again'],
  ['refresh_tokens', 'they belong to sessions'],
  ['account_links', 'a link that was used since must not work again: it is made anew'],
  ['webhook_position', 'it is a place in the trail of this server'],
  ['webhook_deliveries', 'what was sent is over, and what waits is about records that may be others'],
  ['key_usage', 'they are figures of this instance, and a month old at most'],
  ['field_uses', 'they are observations of this instance, and a month old at most'],
  ['key_requests', 'they are the requests of the last days, and the log has them too'],
  ['login_failures', 'they slow down who is guessing at the moment'],
  ['change_outbox', 'it briefly holds changes on their way to subscribers'],
  ['told_changes', 'they are for subscribers who listen at the moment they are published'],
  ['topic_messages', 'they are for subscribers who listen at the moment they are published'],
  ['rate_counters', 'they count the requests of the running minute'],
]);

/** The names of domains as SQL literals, e.g. `'school', 'branch'`, are put in by `conditionOf`. */
export function conditionOf({ only = 'true', domain }: KeptTable, domains: string | undefined): string {
  if (domains === undefined || domain === 'shared') return only;
  if (domain === 'instance') return 'false';
  if ('column' in domain) return `${only} and ${domain.column} in (${domains})`;
  const { through, owner, key } = domain;
  return `${only} and ${through} in (select ${key} from ${owner} where domain in (${domains}))`;
}

/** Maps the name of each domain in the backup to its name after the restore. */
type DomainNames = ReadonlyMap<string, string>;

/** The top domain of the backup gets the new name; its branches keep theirs. */
export function domainNames({ domains }: Manifest, into: string | undefined): DomainNames {
  return new Map(domains.map(({ id }, index) => [id, index === 0 ? (into ?? id) : id]));
}

/** How COPY prints null. */
const NULL = '\\N';

/**
 * Replaces the names of domains in the rows of a table. A domain whose parent is not in the backup loses its
 * parent: it becomes a top domain.
 */
export function renameDomains(
  table: TableContent,
  names: DomainNames,
  rows: AsyncIterable<Buffer>,
): AsyncIterable<Buffer> {
  const columns = table.columns.flatMap((column, index) => (namesDomain(table, column) ? [index] : []));
  const isSame = [...names].every(([before, after]) => before === after);
  if (columns.length === 0 || (isSame && table.name !== 'domains')) return rows;
  return renamed(rows, columns, (id) => names.get(id) ?? NULL);
}

function namesDomain({ name }: TableContent, column: string): boolean {
  if (name === 'domains' && column === 'parent_id') return true;
  const domain = KEPT_TABLES.find((kept) => kept.name === name)?.domain;
  return typeof domain === 'object' && 'column' in domain && domain.column === column;
}

/**
 * Names of domains contain nothing that COPY would escape. Bytes are read as Latin-1, which preserves each
 * one.
 */
async function* renamed(
  chunks: AsyncIterable<Buffer>,
  columns: readonly number[],
  nameOf: (id: string) => string,
): AsyncGenerator<Buffer, void> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    const text = lines.map((line) => `${renameLine(line, columns, nameOf)}\n`).join('');
    yield Buffer.from(text, 'latin1');
  }
}

function renameLine(line: string, columns: readonly number[], nameOf: (id: string) => string): string {
  const values = line.split('\t');
  for (const column of columns) {
    const value = values[column];
    if (value !== undefined && value !== NULL) values[column] = nameOf(value);
  }
  return values.join('\t');
}
