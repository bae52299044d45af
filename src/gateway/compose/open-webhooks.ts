/** Wires webhooks: their registry, the outbox that follows the audit trail, and the sender. */

import { closeInTurn } from '../../base/process/close-in-turn.js';
import type { Principals } from '../../services/auth/principals.js';
import type { TextEncryption } from '../../services/auth/text-encryption.js';
import type { JobQueue } from '../../services/jobs/job-queue.js';
import { OutboundClient } from '../../services/scripting/requests/outbound-client.js';
import { WebhookDeliveries } from '../../services/webhooks/webhook-deliveries.js';
import { WebhookOutbox } from '../../services/webhooks/webhook-outbox.js';
import { Webhooks } from '../../services/webhooks/webhooks.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { ChangeOutbox } from '../../store/changes/change-outbox.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';

/** Only a part of an answer is kept, for the delivery log. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Follows no changes before `webhookDeliveries.start`. The caller closes it. */
export function openWebhooks(services: {
  readonly database: Database;
  readonly domains: Domains;
  readonly store: RecordStore;
  readonly outbox: ChangeOutbox | undefined;
  readonly jobs: JobQueue;
  readonly principals: Principals;
  readonly encryption: TextEncryption;
  readonly config: Config;
  readonly onFault: (error: unknown) => void;
}): {
  readonly webhooks: Webhooks;
  readonly webhookDeliveries: WebhookDeliveries;
  close(): Promise<void>;
} {
  const { database, config } = services;
  const outbound = new OutboundClient({
    maxResponseBytes: MOST_ANSWER_BYTES,
    ports: config.scriptRequestPorts,
    privateHosts: config.scriptRequestPrivateHosts,
  });
  const webhookDeliveries = new WebhookDeliveries({
    ...services,
    outbox: new WebhookOutbox(database, services.outbox),
    outbound,
    timeoutMs: config.webhookTimeoutMs,
    roles: config.webhookRoles,
  });
  return {
    webhooks: new Webhooks({ ...services, deliveries: webhookDeliveries, roles: config.webhookRoles }),
    webhookDeliveries,
    close: () => closeInTurn([() => outbound.close(), () => webhookDeliveries.close()]),
  };
}
