/** Text messages by SMPP 3.4: one session, made when it is needed and kept, since receipts come by it. */
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

/** What became of a message after the centre had taken it. */
export interface SmsReceipt {
  readonly providerId: string;
  readonly outcome: 'delivered' | 'failed';
  /** The network's word for it, e.g. `UNDELIV`. */
  readonly state: string;
}

export interface SmppOptions extends SmppAddress {
  readonly sender: string;
  readonly timeoutMs: number;
  /** How often to ask whether the centre is there. */
  readonly enquireMs: number;
  readonly onReceipt: (receipt: SmsReceipt) => void;
}

/** Too much, too fast, or a trouble of the centre's own: later it may take the message. */
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

  /** The first id counts for a message in several parts: receipts come for each. */
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

  /** Several messages at once wait for one login; after a loss the next message logs in anew. */
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

/** With all of SMPP, which few gateways speak: it is loaded with the first message. */
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
/** EXPIRED, DELETED, UNDELIVERABLE, REJECTED; the others are on the way still. */
const FAILED_STATES = [3, 4, 5, 8];
const FAILED_WORDS = ['EXPIRED', 'DELETED', 'UNDELIV', 'REJECTD'];

/**
 * Reads the receipt from the parameters where the centre sends them, else from the text every centre writes.
 * @see SMPP 3.4, appendix B
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
