/** Writes the records of `sms_log`, one per text message, in the same transaction as the message. */
import { ifRefused } from '../../../base/errors.js';
import type { JsonObject } from '../../../base/json/json.js';
import { type Scope, systemPrincipal } from '../../../base/model/scope.js';
import type { Transaction } from '../../../store/database/queryable.js';
import type { RecordStore } from '../../../store/record-store.js';
import type { Message } from '../message.js';
import type { OutgoingSms } from './sms-request.js';

export const SMS_COLLECTION = 'sms_log';
/** The task in whose name the service records the state of a message. */
const MESSAGES_TASK = 'messages';

/**
 * Writes with the rights of the caller, who needs the right to create records of `sms_log` to send text
 * messages. @throws FORBIDDEN, INVALID_VALUE
 */
export async function logQueued(
  store: RecordStore,
  scope: Scope,
  tx: Transaction,
  { id, sms }: { readonly id: string; readonly sms: OutgoingSms },
): Promise<void> {
  const { principal } = scope;
  const record: JsonObject = {
    _id: id,
    ...sms.log,
    status: 'queued',
    ...(principal.kind === 'user' && { sent_by: principal.id }),
  };
  await store.create(scope, SMS_COLLECTION, [record], { within: tx });
}

export interface SmsLogChange {
  readonly status: 'queued' | 'sent' | 'delivered' | 'failed';
  readonly providerId?: string | undefined;
  readonly error?: string | undefined;
}

/** Writes as the service. A removed record stays removed. */
export async function logState(
  store: RecordStore,
  { message, domain }: LoggedMessage,
  change: SmsLogChange,
  tx: Transaction,
): Promise<void> {
  if (message.recordId === undefined) return;
  const scope = logScope({ message, domain });
  const data: JsonObject = {
    status: change.status,
    status_on: new Date().toISOString(),
    error: change.error ?? null,
    ...(change.providerId !== undefined && { provider_id: change.providerId }),
  };
  await store
    .update(scope, SMS_COLLECTION, message.recordId, { data, mode: 'merge', within: tx })
    .catch(ifRefused(['NOT_FOUND', 'GONE'], undefined));
}

/** The service, as an admin of the domain. */
export function logScope({ message, domain }: LoggedMessage): Scope {
  return {
    domain,
    principal: systemPrincipal(MESSAGES_TASK, ['admin'], domain.id),
    // Scripts that this write starts count as nested in those that led to the message.
    call: { requestId: `message ${message.id}`, scriptDepth: message.scriptDepth },
  };
}

export interface LoggedMessage {
  readonly message: Pick<Message, 'id' | 'recordId' | 'scriptDepth'>;
  readonly domain: Scope['domain'];
}
