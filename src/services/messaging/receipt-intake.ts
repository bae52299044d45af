import { RepeatedWork } from '../../store/database/repeated-work.js';
import type { JobQueue } from '../jobs/job-queue.js';
import type { SmsReceipt } from './sms/smpp-channel.js';

export const RECEIPT_TASK = 'messages.receipt';
/** A receipt may overtake the note of what it is the receipt of. */
const RECEIPT_DELAY_MS = 2_000;
const RECEIPT_ATTEMPTS = 4;
/** The line is long enough for an outage of the database: some minutes of a centre that is busy. */
const MAX_WAITING = 50_000;

/**
 * Makes jobs of the receipts an SMS centre sends, which it sends once: they wait here while the database is
 * away.
 */
export class ReceiptIntake {
  readonly #jobs: Pick<JobQueue, 'add'>;
  readonly #onFault: (error: unknown) => void;
  readonly #adding: RepeatedWork;
  readonly #waiting: SmsReceipt[] = [];

  constructor(options: {
    readonly jobs: Pick<JobQueue, 'add'>;
    readonly onFault: (error: unknown) => void;
  }) {
    this.#jobs = options.jobs;
    this.#onFault = options.onFault;
    this.#adding = new RepeatedWork({ work: () => this.#addAll(), onFault: options.onFault });
  }

  take(receipt: SmsReceipt): void {
    if (this.#waiting.length >= MAX_WAITING) {
      const { providerId } = receipt;
      this.#onFault(new Error(`The receipt of ${providerId} is lost: ${MAX_WAITING} wait for the database.`));
      return;
    }
    this.#waiting.push(receipt);
    this.#adding.wake();
  }

  /** Waits for what is being added. What could not be added by then is lost, and told. */
  async close(): Promise<void> {
    await this.#adding.close();
    const lost = this.#waiting.length;
    if (lost > 0) this.#onFault(new Error(`${lost} receipts of text messages are lost with this process.`));
  }

  async #addAll(): Promise<void> {
    for (let receipt = this.#waiting[0]; receipt !== undefined; receipt = this.#waiting[0]) {
      const options = { delayMs: RECEIPT_DELAY_MS, maxAttempts: RECEIPT_ATTEMPTS };
      await this.#jobs.add(RECEIPT_TASK, { ...receipt }, options);
      this.#waiting.shift();
    }
  }
}
