import { closeInTurn } from '../../base/process/close-in-turn.js';
import type { Principals } from '../../services/auth/principals.js';
import type { JobQueue } from '../../services/jobs/job-queue.js';
import { Channels } from '../../services/messaging/channels.js';
import type { AttachmentFiles } from '../../services/messaging/email/attachments.js';
import { MessageAdmin } from '../../services/messaging/message-admin.js';
import { MessageDelivery } from '../../services/messaging/message-delivery.js';
import { Messages } from '../../services/messaging/messages.js';
import { ReceiptIntake } from '../../services/messaging/receipt-intake.js';
import type { Domains } from '../../store/catalog/domains.js';
import type { Database } from '../../store/database/database.js';
import type { RecordStore } from '../../store/record-store.js';
import type { Config } from '../config/config.js';

export interface Messaging {
  /** Queues emails and text messages. */
  readonly messages: Messages;
  /** Lists, resends and discards messages. */
  readonly messageAdmin: MessageAdmin;
  /** Sends messages; called by the jobs. */
  readonly messageDelivery: MessageDelivery;
  close(): Promise<void>;
}

/**
 * Email and text messages, configured by the settings. It connects with the first message. The caller closes
 * it.
 */
export function openMessaging(options: {
  readonly database: Database;
  readonly domains: Domains;
  readonly store: RecordStore;
  readonly jobs: JobQueue;
  readonly files: AttachmentFiles;
  readonly principals: Principals;
  readonly config: Config;
  readonly onFault: (error: unknown) => void;
}): Messaging {
  const { database, domains, store, jobs, files, principals, config, onFault } = options;
  const receipts = new ReceiptIntake({ jobs, onFault });
  const channels = new Channels({
    settings: config,
    domains,
    onReceipt: (receipt) => receipts.take(receipt),
  });
  return {
    messages: new Messages({
      database,
      domains,
      store,
      jobs,
      files,
      hasChannel: (kind, domainId) => channels.has(kind, domainId),
      limits: {
        maxRecipients: config.messageMaxRecipients,
        maxEmailBytes: config.emailMaxBytes,
        maxSmsSegments: config.smsMaxSegments,
        emailsPerHour: config.emailsPerHour,
        smsPerHour: config.smsPerHour,
        emailRoles: config.emailRoles,
      },
    }),
    messageAdmin: new MessageAdmin({ database, store, jobs }),
    messageDelivery: new MessageDelivery({
      database,
      domains,
      store,
      jobs,
      channels,
      files,
      principals,
      settings: {
        maxAttempts: config.messageMaxAttempts,
        retryMs: config.messageRetryMs,
        sendKeptHours: config.sendKeptHours,
        emailRoles: config.emailRoles,
      },
    }),
    close: () => closeInTurn([() => receipts.close(), () => channels.close()]),
  };
}
