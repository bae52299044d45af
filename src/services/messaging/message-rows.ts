/**
 * The table of messages. Every statement names the domain, except those of tasks that process all domains.
 */

import type { WorkPrincipal } from '../../base/model/scope.js';
import {
  type KeysetPage,
  type KeysetRequest,
  newestFirst,
  toKeysetPage,
} from '../../store/database/keyset.js';
import {
  countIn,
  fromRow,
  type Queryable,
  type RowOf,
  type Transaction,
} from '../../store/database/queryable.js';
import { allHold, type Sql, sql } from '../../store/sql.js';
import type { Attachment, Message, MessageKind, MessageState } from './message.js';

/** The prefix of the key of a job that sends a message; the id of the message follows. */
export const JOB_KEY_PREFIX = 'message ';

type FactOfSending =
  | ('remaining' | 'attempts' | 'lastError' | 'providerId')
  | ('createdAt' | 'updatedAt' | 'nextAttemptAt' | 'sentAt');

export interface NewMessage extends Omit<Message, FactOfSending> {
  readonly state: 'queued' | 'kept';
  readonly requestHash: Buffer | undefined;
  readonly size: number;
  readonly sender: WorkPrincipal;
  readonly requestId: string;
}

export interface MessageFilter {
  readonly kind?: MessageKind | undefined;
  readonly state?: MessageState | undefined;
  /** An address or number, compared exactly. */
  readonly recipient?: string | undefined;
  readonly createdBy?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
}

type MessageRow = RowOf<Message>;

const COLUMNS = sql`m.id, m.domain as "domainId", m.kind, m.state, m.key, m.recipients, m.remaining,
  m.content, m.subject, m.attempts, m.last_error as "lastError", m.provider_id as "providerId",
  m.record_id as "recordId", m.script_depth as "scriptDepth", m.created_by as "createdBy", m.sender,
  m.created_at as "createdAt", m.updated_at as "updatedAt", m.next_attempt_at as "nextAttemptAt",
  m.sent_at as "sentAt"`;

/**
 * Returns `undefined` if a message with this key exists. Waits for a transaction that is writing the same
 * key.
 */
export async function insertMessage(db: Queryable, message: NewMessage): Promise<Message | undefined> {
  const [row] = await db.query<MessageRow>(sql`
    insert into messages as m
      (id, domain, kind, state, key, request_hash, recipients, subject, content, size, record_id, created_by,
        sender, request_id, script_depth)
    values (
      ${message.id}::uuid, ${message.domainId}, ${message.kind}, ${message.state}, ${message.key ?? null},
        ${message.requestHash ?? null},
      ${message.recipients}::text[], ${message.subject ?? null}, ${JSON.stringify(message.content)}::jsonb,
        ${message.size},
      ${message.recordId ?? null}, ${message.createdBy}, ${JSON.stringify(message.sender)}::jsonb,
      ${message.requestId}, ${message.scriptDepth}
    )
    on conflict (domain, kind, key) do nothing
    returning ${COLUMNS}`);
  return row && fromRow<Message>(row);
}

/** The message that the same request with this key has queued; `undefined` if the key is that of another. */
export async function findRepeated(
  db: Queryable,
  { domainId, kind, key, requestHash }: Pick<NewMessage, 'domainId' | 'kind' | 'key' | 'requestHash'>,
): Promise<Message | undefined> {
  const [row] = await db.query<MessageRow>(sql`
    select ${COLUMNS}
    from messages m
    where m.domain = ${domainId} and m.kind = ${kind} and m.key = ${key ?? null}
      and m.request_hash = ${requestHash ?? null}`);
  return row && fromRow<Message>(row);
}

export async function insertAttachments(
  db: Queryable,
  messageId: string,
  attachments: readonly Attachment[],
): Promise<void> {
  for (const [position, { name, contentType, content, fileId }] of attachments.entries()) {
    await db.query(sql`
      insert into message_attachments (message_id, position, name, content_type, content, file_id)
      values (${messageId}::uuid, ${position}, ${name}, ${contentType}, ${content ?? null},
        ${fileId ?? null}::uuid)`);
  }
}

export async function readAttachments(db: Queryable, messageId: string): Promise<Attachment[]> {
  const rows = await db.query<RowOf<Attachment>>(sql`
    select name, content_type as "contentType", content, file_id as "fileId"
    from message_attachments
    where message_id = ${messageId}::uuid
    order by position`);
  return rows.map(fromRow<Attachment>);
}

/** Lists messages, the newest first; ids increase with time. */
export async function listMessages(
  db: Queryable,
  domainId: string,
  { filter, ...request }: KeysetRequest & { readonly filter: MessageFilter },
): Promise<KeysetPage<Message>> {
  const page = newestFirst(request, sql`m.id`, 'uuid');
  const rows = await db.query<MessageRow>(sql`
    select ${COLUMNS}
    from messages m
    where ${conditionOf(domainId, filter)} and ${page.condition}
    ${page.tail}`);
  return toKeysetPage(rows.map(fromRow<Message>), request);
}

export async function findMessage(db: Queryable, domainId: string, id: string): Promise<Message | undefined> {
  const [row] = await db.query<MessageRow>(sql`
    select ${COLUMNS}
    from messages m
    where m.domain = ${domainId} and m.id = ${id}::uuid`);
  return row && fromRow<Message>(row);
}

export async function countMessages(db: Queryable, domainId: string, filter: MessageFilter): Promise<number> {
  return await countIn(db, sql`messages m where ${conditionOf(domainId, filter)}`);
}

/**
 * Counts the messages a domain has requested within the last hour, one per recipient. Transactions that count
 * at the same time run one after the other, so that each includes the messages of those before it.
 */
export async function countOfLastHour(db: Transaction, domainId: string, kind: MessageKind): Promise<number> {
  // The lock is a separate statement, so that the count sees what was committed while the lock was awaited.
  await db.query(sql`select pg_advisory_xact_lock(hashtextextended(${`messages ${kind} ${domainId}`}, 0))`);
  const [row] = await db.query<{ count: number }>(sql`
    select coalesce(sum(cardinality(recipients)), 0)::int as count
    from messages
    where domain = ${domainId} and kind = ${kind} and created_at > now() - interval '1 hour'`);
  return row?.count ?? 0;
}

/**
 * Claims a message for sending. Returns `undefined` if the message must not be sent (any more), or if another
 * job has it. It is claimed again if its gateway died while sending, by the same job or, if that was lost, by
 * another one.
 */
export async function claimMessage(db: Queryable, id: string, jobId: string): Promise<Message | undefined> {
  const [row] = await db.query<MessageRow>(sql`
    update messages m
    set state = 'sending', job_id = ${jobId}::bigint, attempts = m.attempts + 1, next_attempt_at = null,
      updated_at = now()
    where m.id = ${id}::uuid and (m.state = 'queued' or m.state = 'sending' and not exists (
      select
      from campus_jobs.jobs j
      where j.id = m.job_id and j.id <> ${jobId}::bigint
        and (j.locked_at is not null or j.attempts < j.max_attempts)
    ))
    returning ${COLUMNS}`);
  return row && fromRow<Message>(row);
}

/** The result of an attempt. Omitted members stay as they are. */
export interface Settled {
  readonly state: MessageState;
  readonly lastError: string | undefined;
  readonly providerId?: string | undefined;
  readonly remaining?: readonly string[] | undefined;
  /** The wait before the next attempt. */
  readonly retryInMs?: number | undefined;
}

export async function settleMessage(db: Queryable, id: string, settled: Settled): Promise<void> {
  const { state, lastError, providerId, remaining, retryInMs } = settled;
  await db.query(sql`
    update messages
    set state = ${state},
        last_error = ${lastError ?? null},
        provider_id = coalesce(${providerId ?? null}, provider_id),
        remaining = ${remaining ?? null}::text[],
        next_attempt_at = now() + ${retryInMs ?? null}::float8 * interval '1 millisecond',
        sent_at = case when ${state} = 'sent' then now() else sent_at end,
        updated_at = now()
    where id = ${id}::uuid`);
}

/**
 * Puts a failed, kept or waiting message back into the queue. Returns `undefined` if the message is in
 * another state.
 */
export async function requeueMessage(
  db: Queryable,
  options: {
    readonly domainId: string;
    readonly id: string;
    readonly states: readonly MessageState[];
    /** From now on it is sent for this principal. */
    readonly sender?: WorkPrincipal | undefined;
  },
): Promise<Message | undefined> {
  const sender = options.sender === undefined ? null : JSON.stringify(options.sender);
  const [row] = await db.query<MessageRow>(sql`
    update messages m
    set state = 'queued', attempts = 0, next_attempt_at = null, updated_at = now(),
      sender = coalesce(${sender}::jsonb, m.sender)
    where m.domain = ${options.domainId} and m.id = ${options.id}::uuid
      and m.state = any(${options.states}::text[])
    returning ${COLUMNS}`);
  return row && fromRow<Message>(row);
}

/**
 * Selects the messages that should have been tried an hour ago: their job is missing if it was abandoned
 * after Postgres had failed repeatedly, or if they came with a backup.
 */
export const FORGOTTEN_MESSAGES = sql`
  select m.id::text
  from messages m
  where m.state in ('queued', 'sending')
    and greatest(m.updated_at, m.next_attempt_at) < now() - interval '1 hour'
  order by m.id`;

/** Lists kept messages, the oldest first. */
export async function listKept(
  db: Queryable,
  options: { readonly keptHours: number; readonly after: string; readonly limit: number },
): Promise<{ readonly id: string; readonly domainId: string; readonly kind: MessageKind }[]> {
  return await db.query(sql`
    select id, domain as "domainId", kind
    from messages
    where state = 'kept' and created_at >= now() - ${options.keptHours}::float8 * interval '1 hour'
      and id > ${options.after}::uuid
    order by id
    limit ${options.limit}`);
}

export async function findByProviderId(db: Queryable, providerId: string): Promise<Message | undefined> {
  const [row] = await db.query<MessageRow>(sql`
    select ${COLUMNS}
    from messages m
    where m.provider_id = ${providerId} and m.kind = 'sms'
    order by m.id desc
    limit 1`);
  return row && fromRow<Message>(row);
}

/**
 * Deletes messages sent or abandoned before an instant, with their bodies and attachments. Returns their
 * number.
 */
export async function purgeMessages(db: Queryable, before: Date): Promise<number> {
  const gone = await db.query(sql`
    delete from messages
    where state in ('sent', 'failed') and updated_at < ${before.toISOString()}::timestamptz
    returning 1`);
  return gone.length;
}

function conditionOf(domainId: string, filter: MessageFilter): Sql {
  const { kind, state, recipient, createdBy, from, until } = filter;
  return allHold([
    sql`m.domain = ${domainId}`,
    kind !== undefined && sql`m.kind = ${kind}`,
    state !== undefined && sql`m.state = ${state}`,
    recipient !== undefined && sql`${recipient} = any(m.recipients)`,
    createdBy !== undefined && sql`m.created_by = ${createdBy}`,
    from !== undefined && sql`m.created_at >= to_timestamp(${from.getTime() / 1000}::float8)`,
    until !== undefined && sql`m.created_at < to_timestamp(${until.getTime() / 1000}::float8)`,
  ]);
}
