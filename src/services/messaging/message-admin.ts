/** Lists messages and their states for people, who can also send an unsent message now, or discard it. */

import { ServiceError } from '../../base/errors.js';
import { type Scope, toWorkPrincipal } from '../../base/model/scope.js';
import { isAdmin, refusedByScopes } from '../../store/access/access.js';
import { assertIdOf, type KeysetPage, type KeysetRequest, withPlaces } from '../../store/database/keyset.js';
import type { Transaction } from '../../store/database/queryable.js';
import type { Message } from './message.js';
import { enqueueSending, type MessageDeliveryOptions } from './message-delivery.js';
import {
  countMessages,
  findMessage,
  listMessages,
  type MessageFilter,
  requeueMessage,
  settleMessage,
} from './message-rows.js';
import { logState, SMS_COLLECTION } from './sms/sms-log.js';

const assertMessageId = assertIdOf('a message');

type MessageAdminServices = Pick<MessageDeliveryOptions, 'database' | 'store' | 'jobs'>;

export class MessageAdmin {
  readonly #services: MessageAdminServices;

  constructor(services: MessageAdminServices) {
    this.#services = services;
  }

  /**
   * Lists messages, the newest first. An admin sees all messages of the domain, other users their own.
   * @throws FORBIDDEN for API keys
   */
  async list(
    scope: Scope,
    { filter, ...page }: KeysetRequest & { readonly filter: MessageFilter },
  ): Promise<KeysetPage<Message>> {
    return await listMessages(this.#services.database, scope.domain.id, {
      ...withPlaces(page, assertMessageId),
      filter: visibleTo(scope, filter),
    });
  }

  async count(scope: Scope, filter: MessageFilter): Promise<number> {
    return await countMessages(this.#services.database, scope.domain.id, visibleTo(scope, filter));
  }

  /**
   * Sends a message now that failed, is kept, or waits for its next attempt. @throws FORBIDDEN unless the
   * caller is an admin; NOT_FOUND; CONFLICT for a message in another state
   */
  async retry(scope: Scope, id: string): Promise<Message> {
    assertAdmin(scope, 'sends messages again');
    const { jobs, store } = this.#services;
    return await store.atomically(scope, { writes: [SMS_COLLECTION] }, async (tx) => {
      const target = { domainId: scope.domain.id, id: assertMessageId(id, 'id') };
      const sender = toWorkPrincipal(scope.principal);
      const message = await requeueMessage(tx, { ...target, sender, states: ['failed', 'kept', 'queued'] });
      if (message === undefined) throw await this.#refusal(tx, scope, id, 'sent again');
      await logState(store, { message, domain: scope.domain }, { status: 'queued' }, tx);
      await enqueueSending(jobs, message.id, {}, tx);
      return message;
    });
  }

  /**
   * Discards a message that has not been sent. @throws FORBIDDEN unless the caller is an admin; NOT_FOUND;
   * CONFLICT for a message in another state
   */
  async discard(scope: Scope, id: string): Promise<Message> {
    assertAdmin(scope, 'discards messages');
    const { store } = this.#services;
    return await store.atomically(scope, { writes: [SMS_COLLECTION] }, async (tx) => {
      const target = { domainId: scope.domain.id, id: assertMessageId(id, 'id') };
      const message = await requeueMessage(tx, { ...target, states: ['failed', 'kept', 'queued'] });
      if (message === undefined) throw await this.#refusal(tx, scope, id, 'discarded');
      const lastError = `discarded by ${scope.principal.id}`;
      await settleMessage(tx, message.id, { state: 'failed', lastError });
      await logState(store, { message, domain: scope.domain }, { status: 'failed', error: lastError }, tx);
      return { ...message, state: 'failed', lastError };
    });
  }

  async #refusal(tx: Transaction, scope: Scope, id: string, what: string): Promise<ServiceError> {
    const message = await findMessage(tx, scope.domain.id, id);
    if (message === undefined) return new ServiceError('NOT_FOUND', `there is no message "${id}"`);
    return new ServiceError('CONFLICT', `the message is ${message.state} and cannot be ${what}`);
  }
}

/** @throws FORBIDDEN */
function visibleTo({ principal }: Scope, filter: MessageFilter): MessageFilter {
  if (principal.scopes !== undefined) {
    throw refusedByScopes(principal, "the API key's scopes do not allow it to read messages");
  }
  if (principal.roles.has('admin')) return filter;
  if (filter.createdBy !== undefined && filter.createdBy !== principal.id) {
    throw new ServiceError('FORBIDDEN', 'only an admin sees the messages of others');
  }
  return { ...filter, createdBy: principal.id };
}

function assertAdmin({ principal }: Scope, does: string): void {
  if (isAdmin(principal)) return;
  throw new ServiceError('FORBIDDEN', `only an admin ${does}`);
}
