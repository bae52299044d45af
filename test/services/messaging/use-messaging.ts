/** A whole gateway with its workers, for messages; whoever asks, and what became of what was asked for. */
import { afterAll, beforeAll } from '@jest/globals';
import type { Scope } from '../../../src/base/model/scope.js';
import type { Services } from '../../../src/gateway/compose/services.js';
import type { Message } from '../../../src/services/messaging/message.js';
import {
  createGatewayDatabase,
  type Settings,
  type StartedGateway,
  startGateway,
} from '../../contract/gateway.js';
import { eventually } from '../../eventually.js';

export interface TestMessaging {
  readonly gateway: StartedGateway;
  readonly services: Services;
  /** A user with this role, at work in the top domain. */
  as(role: string, userId?: string): Scope;
  messageOf(id: string): Promise<Message>;
  /** Waits until the message is in this state. */
  until(id: string, state: Message['state']): Promise<Message>;
}

export function useMessaging(settings: () => Settings | Promise<Settings>): TestMessaging {
  let gateway: StartedGateway | undefined;
  let drop: (() => Promise<void>) | undefined;
  const get = () => {
    if (!gateway) throw new Error('The gateway exists only while tests run');
    return gateway;
  };
  beforeAll(async () => {
    const database = await createGatewayDatabase();
    drop = database.drop;
    gateway = await startGateway(database.url, {
      MESSAGE_RETRY_MS: '20',
      MESSAGE_TIMEOUT_MS: '1000',
      ...(await settings()),
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await drop?.();
  });
  const test: TestMessaging = {
    get gateway() {
      return get();
    },
    get services() {
      return get().app.services;
    },
    as(role, userId = `usr-${role}`) {
      const domain = test.services.domains.get('top');
      return {
        domain,
        principal: {
          kind: 'user',
          id: userId,
          userName: role,
          domainId: domain.id,
          roles: new Set([role]),
          credential: { kind: 'token', id: 'test' },
          scopes: undefined,
          attributes: {},
        },
        call: { requestId: 'test' },
      };
    },
    async messageOf(id) {
      const { rows: messages } = await test.services.messages.list(test.as('admin'), {
        filter: {},
        limit: 1000,
      });
      const message = messages.find((one) => one.id === id);
      if (!message) throw new Error(`there is no message ${id}`);
      return message;
    },
    async until(id, state) {
      await eventually(async () => (await test.messageOf(id)).state === state, 20_000);
      return await test.messageOf(id);
    },
  };
  return test;
}
