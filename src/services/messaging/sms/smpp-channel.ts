/**
 * Sends text messages by SMPP 3.4. The one session is opened when first needed and kept open, because
 * receipts arrive on it.
 */
import { randomInt } from 'node:crypto';
import type { Pdu } from 'smpp';
import {
  type Channel,
  type Delivered,
  type DeliveryContext,
  DeliveryError,
  type SmsContent,
} from '../message.js';
import type { SmppAddress, SmppSession } from './smpp-session.js';
import { encodeSms } from './sms-text.js';

/** The outcome of a message after the centre accepted it. */
export interface SmsReceipt {
  readonly providerId: string;
  readonly outcome: 'delivered' | 'failed';
  /** The word of the network, e.g. `UNDELIV`. */
  readonly state: string;
}

export interface SmppOptions extends SmppAddress {
  readonly sender: string;
  readonly timeoutMs: number;
  /** The interval of checking that the centre answers. */
  readonly enquireMs: number;
  readonly onReceipt: (receipt: SmsReceipt) => void;
}

/** Statuses of an overloaded or faulty centre, which may accept the message later. */
const TEMPORARY = new Set([0x08, 0x0d, 0x14, 0x58, 0x64]);
const GSM_7 = 0x00;
const UCS_2 = 0x08;
const CONCATENATED = 0x40;
const INTERNATIONAL = 0x01;
const ALPHANUMERIC = 0x05;
const UNKNOWN = 0x00;
const ISDN = 0x01;
const ON_SUCCESS_AND_FAILURE = 0x01;

export class SmppChannel implements Channel<SmsContent> {
  readonly #options: SmppOptions;
  #session: Promise<SmppSession> | undefined;
  #isClosed = false;

  constructor(options: SmppOptions) {
    this.#options = options;
  }

  /** For a message in several parts, the id of the first part is stored; receipts arrive for each. */
  async send(message: SmsContent, { signal }: DeliveryContext): Promise<Delivered> {
    const session = await this.#bound();
    const { encoding, segments } = encodeSms(message.text);
    const reference = randomInt(0x100);
    let providerId: string | undefined;
    for (const [index, segment] of segments.entries()) {
      signal.throwIfAborted();
      const isPart = segments.length > 1;
      const header = Buffer.from([5, 0, 3, reference, segments.length, index + 1]);
      const fields = {
        ...sourceOf(this.#options.sender),
        dest_addr_ton: INTERNATIONAL,
        dest_addr_npi: ISDN,
        destination_addr: message.to.slice(1),
        esm_class: isPart ? CONCATENATED : 0,
        data_coding: encoding === 'gsm7' ? GSM_7 : UCS_2,
        registered_delivery: ON_SUCCESS_AND_FAILURE,
        short_message: isPart ? Buffer.concat([header, segment]) : segment,
      };
      const response = await session.ask((to, onResponse) => to.submit_sm(fields, onResponse));
      const { command_status: status, message_id: id } = response;
      if (status !== 0) {
        const kind = TEMPORARY.has(status) ? 'temporary' : 'permanent';
        const { nameOf } = await loadSession();
        throw new DeliveryError(kind, `the SMS centre refused the message: ${nameOf(status)}`);
      }
      providerId ??= id;
    }
    return { providerId };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => undefined);
    await session?.close();
  }

  /** Messages sent at the same time share one login; after a lost session, the next message logs in again. */
  #bound(): Promise<SmppSession> {
    if (this.#isClosed) throw new DeliveryError('temporary', 'the gateway is stopping');
    this.#session ??= this.#bind();
    return this.#session;
  }

  async #bind(): Promise<SmppSession> {
    const { onReceipt, ...options } = this.#options;
    const { SmppSession } = await loadSession();
    return await SmppSession.bind({
      ...options,
      onDelivered: (pdu) => {
        const receipt = toReceipt(pdu);
        if (receipt) onReceipt(receipt);
      },
      onClosed: () => {
        this.#session = undefined;
      },
    });
  }
}

/** Loads the SMPP library with the first message, because few gateways use it. */
function loadSession(): Promise<typeof import('./smpp-session.js')> {
  return import('./smpp-session.js');
}

/** A number, a short code, or a name of up to eleven characters. */
function sourceOf(sender: string): object {
  if (/^\+\d+$/.test(sender)) {
    return { source_addr_ton: INTERNATIONAL, source_addr_npi: ISDN, source_addr: sender.slice(1) };
  }
  const ton = /^\d*$/.test(sender) ? UNKNOWN : ALPHANUMERIC;
  return { source_addr_ton: ton, source_addr_npi: UNKNOWN, source_addr: sender };
}

const DELIVERED_STATE = 2;
/** EXPIRED, DELETED, UNDELIVERABLE, REJECTED. Messages in other states are still being delivered. */
const FAILED_STATES = [3, 4, 5, 8];
const FAILED_WORDS = ['EXPIRED', 'DELETED', 'UNDELIV', 'REJECTD'];

/**
 * Parses a receipt from its parameters if the centre sends them, else from its text, which every centre
 * sends. @see SMPP 3.4, appendix B
 */
function toReceipt(pdu: Pdu): SmsReceipt | undefined {
  const { message } = pdu.short_message ?? {};
  const text = Buffer.isBuffer(message) ? message.toString('latin1') : String(message ?? '');
  const providerId = pdu.receipted_message_id || /\bid:(\S+)/.exec(text)?.[1];
  const word = /\bstat:(\w+)/.exec(text)?.[1] ?? '';
  const code = pdu.message_state ?? -1;
  if (providerId === undefined) return undefined;
  if (code === DELIVERED_STATE || word === 'DELIVRD')
    return { providerId, outcome: 'delivered', state: word };
  if (!FAILED_STATES.includes(code) && !FAILED_WORDS.includes(word)) return undefined;
  return { providerId, outcome: 'failed', state: word || `state ${code}` };
}
