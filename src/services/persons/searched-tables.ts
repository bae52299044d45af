/**
 * The tables beside the records that may name a person. A test fails for a table that is neither here nor
 * among those without personal data, so that whoever adds a table must decide.
 */

export interface SearchedTable {
  readonly table: string;
  /** The name of the place in the report. */
  readonly place: string;
  /** The column that names the domain, or something that belongs to one, or `none`. Default: `domain`. */
  readonly domain?: string | OwnedRows;
  /** The column that the report shows of a row. Default: `id`. */
  readonly shown?: string;
  readonly texts?: readonly string[];
  readonly json?: readonly string[];
  readonly lists?: readonly string[];
  /** The columns that contain the `_id` of a user. */
  readonly users?: readonly string[];
  /** The action on a row that names the person; by default the pseudonym replaces the person. */
  readonly hit?: 'remove' | { readonly empty: readonly string[] } | 'report';
  /** Columns that are set as well in a row that names the person. */
  readonly set?: string;
}

/** Rows that belong to a row of another table, which names the domain. */
interface OwnedRows {
  readonly column: string;
  readonly owner: string;
  readonly ownerDomain: string;
}

const OF_IMPORT: OwnedRows = { column: 'import_id', owner: 'imports', ownerDomain: 'domain' };
const OF_WEBHOOK: OwnedRows = { column: 'webhook_id', owner: 'webhooks', ownerDomain: 'domain_id' };

export const SEARCHED_TABLES: readonly SearchedTable[] = [
  {
    table: 'audit_entries',
    place: 'history',
    texts: ['record_id', 'request_id', 'credential'],
    json: ['before'],
    users: ['principal'],
  },
  {
    table: 'messages',
    place: 'messages',
    texts: ['key', 'subject', 'last_error', 'provider_id', 'record_id', 'request_id'],
    json: ['content'],
    lists: ['recipients', 'remaining'],
    users: ['created_by'],
  },
  {
    table: 'idempotency_keys',
    place: 'answers kept for idempotency keys',
    domain: 'domain_id',
    shown: 'credential',
    texts: ['key'],
    json: ['answer'],
    hit: { empty: ['answer'] },
    // No request has this hash: the key is refused until it expires, so its write is not repeated.
    set: `request_hash = ''`,
  },
  {
    table: 'change_outbox',
    place: 'changes on their way to subscribers',
    texts: ['record_id', 'announced'],
    json: ['started'],
    users: ['principal'],
  },
  {
    table: 'told_changes',
    place: 'changes that were published',
    texts: ['record_id'],
    users: ['principal'],
  },
  {
    table: 'topic_messages',
    place: 'messages of topics',
    texts: ['topic'],
    json: ['message'],
    users: ['principal'],
    hit: 'remove',
  },
  {
    table: 'script_runs',
    place: 'runs of scripts',
    domain: 'domain_id',
    texts: ['request_id', 'cause'],
    json: ['value', 'error', 'output'],
    users: ['principal'],
    hit: { empty: ['value', 'output'] },
  },
  {
    table: 'script_log',
    place: 'log of scripts',
    domain: 'domain_id',
    texts: ['message'],
    json: ['data'],
    users: ['principal'],
    hit: { empty: ['data'] },
  },
  {
    table: 'campus_jobs._private_jobs',
    place: 'jobs',
    domain: 'none',
    texts: ['key', 'last_error'],
    json: ['payload'],
  },
  {
    table: 'files',
    place: 'names of files',
    texts: ['name', 'record_id'],
    users: ['created_by'],
  },
  {
    table: 'api_keys',
    place: 'names of API keys',
    domain: 'domain_id',
    texts: ['name'],
    users: ['created_by'],
  },
  {
    table: 'scripts',
    place: 'scripts',
    domain: 'domain_id',
    shown: 'name',
    texts: ['code'],
    json: ['settings'],
    users: ['updated_by'],
    hit: 'report',
  },
  {
    table: 'script_versions',
    place: 'versions of scripts',
    domain: 'domain_id',
    shown: 'name',
    texts: ['code'],
    json: ['settings'],
    users: ['saved_by'],
    hit: 'report',
  },
  {
    table: 'imports',
    place: 'imports',
    texts: ['name'],
    json: ['source', 'inspection', 'mapping', 'options', 'trial', 'fault', 'principal'],
    users: ['created_by'],
  },
  {
    table: 'import_errors',
    place: 'refused rows of imports',
    domain: OF_IMPORT,
    shown: 'row_number',
    json: ['errors', 'source'],
    hit: 'remove',
  },
  {
    table: 'import_seen',
    place: 'records of imports',
    shown: 'record_id',
    texts: ['record_id'],
    hit: 'remove',
  },
  {
    table: 'import_mappings',
    place: 'mappings of imports',
    shown: 'name',
    texts: ['name'],
    json: ['mapping'],
    users: ['saved_by'],
  },
  {
    table: 'webhooks',
    place: 'webhooks',
    domain: 'domain_id',
    shown: 'name',
    texts: ['name'],
    json: ['events'],
    users: ['created_by'],
    hit: 'report',
  },
  {
    table: 'webhook_deliveries',
    place: 'deliveries of webhooks',
    domain: OF_WEBHOOK,
    texts: ['body', 'answer', 'problem'],
    json: ['event'],
    hit: { empty: ['body', 'answer'] },
  },
  {
    table: 'properties',
    place: 'properties',
    domain: 'domain_id',
    shown: 'name',
    json: ['value'],
    hit: 'report',
  },
];

/** Tables without personal data, or whose data is erased elsewhere, each with the reason. */
export const UNSEARCHED_TABLES: ReadonlyMap<string, string> = new Map([
  ['records', 'the steps of an erasure go through them'],
  ['credentials', 'they go with the user'],
  ['sessions', 'they go with the user'],
  ['refresh_tokens', 'they go with their session'],
  ['account_links', 'they go with the user'],
  ['second_factors', 'they go with the user'],
  ['recovery_codes', 'they go with the user'],
  ['rate_counters', 'their keys are hashes, for some minutes'],
  ['key_requests', 'they count the requests of keys, which go with the user'],
  ['key_usage', 'it counts the requests of keys, which go with the user'],
  ['field_uses', 'it names keys and operations, and no values'],
  ['import_outcomes', 'it names rows and fields, and no values'],
  ['webhook_position', 'it is a place in the audit trail'],
  ['login_failures', 'they have a hash of the name and the id of the user, for a day'],
  ['fee_months', 'the statements that write records write them too'],
  ['collected_receipts', 'the statements that write records write them too'],
  ['attendance_months', 'the statements that write records write them too'],
  ['message_attachments', 'they go with their message'],
  ['file_chunks', 'they go with their file; the files of imports are read'],
  ['erasures', 'they hold the plan until all is done'],
  ['domains', 'they are schools'],
  ['settings', 'they are of the instance'],
  ['collections', 'they are declarations'],
  ['receipt_series', 'they are numbers'],
  ['_prisma_migrations', 'it is of the instance'],
]);
