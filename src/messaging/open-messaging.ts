import type { Config } from '../config.js';
import type { Database } from '../store/database/database.js';
import type { Domains } from '../store/domains.js';
import type { RecordStore } from '../store/record-store.js';
import { Channels } from './channels.js';
import type { AttachmentFiles } from './email/attachments.js';
import type { JobQueue } from './job-queue.js';
import { MessageDelivery } from './message-delivery.js';
import { MessageDesk } from './message-desk.js';
import { Messages } from './messages.js';
import type { SmsReceipt } from './sms/smpp-channel.js';

export const RECEIPT_TASK = 'messages.receipt';
/** A receipt may overtake the note of what it is the receipt of. */
const RECEIPT_DELAY_MS = 2_000;
const RECEIPT_ATTEMPTS = 4;

export interface Messaging {
  /** Asks for emails and text messages. */
  readonly messages: Messages;
  /** Looks after them. */
  readonly messageDesk: MessageDesk;
  /** Sends them; called by the jobs. */
  readonly messageDelivery: MessageDelivery;
  close(): Promise<void>;
}

/** Email and text messages as the settings want them. Nothing is connected before the first message. The caller closes it. */
export function openMessaging(o: {
  readonly database: Database;
  readonly domains: Domains;
  readonly store: RecordStore;
  readonly jobs: JobQueue;
  readonly files: AttachmentFiles;
  readonly config: Config;
  readonly onFault: (error: unknown) => void;
}): Messaging {
  const { database, domains, store, jobs, files, config, onFault } = o;
  const onReceipt = (receipt: SmsReceipt) => {
    const options = { runAt: new Date(Date.now() + RECEIPT_DELAY_MS), maxAttempts: RECEIPT_ATTEMPTS };
    jobs.add(RECEIPT_TASK, { ...receipt }, options).catch(onFault);
  };
  const channels = new Channels({ settings: config, domains, onReceipt });
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
        smsCountryCode: config.smsCountryCode,
      },
    }),
    messageDesk: new MessageDesk({ database, store, jobs }),
    messageDelivery: new MessageDelivery({
      database,
      domains,
      store,
      jobs,
      channels,
      files,
      settings: {
        maxAttempts: config.messageMaxAttempts,
        retryMs: config.messageRetryMs,
        sendKeptHours: config.sendKeptHours,
      },
    }),
    close: () => channels.close(),
  };
}
