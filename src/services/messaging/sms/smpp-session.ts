/**
 * One bound connection to an SMS centre. Requests have a timeout, the connection is checked regularly, and
 * all pending requests fail when it is lost.
 */
import smpp, { type Pdu, type Session } from 'smpp';
import { DeliveryError } from '../message.js';

export interface SmppAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
}

export interface SmppSessionOptions extends SmppAddress {
  readonly timeoutMs: number;
  readonly enquireMs: number;
  /** A receipt, or a message of a subscriber. */
  readonly onDelivered: (pdu: Pdu) => void;
  readonly onClosed: () => void;
}

type Question<Answer> = (session: Session, onResponse: (response: Answer) => void) => boolean;

export class SmppSession {
  readonly #options: SmppSessionOptions;
  readonly #session: Session;
  readonly #pending = new Set<(error: DeliveryError) => void>();
  #enquiring: NodeJS.Timeout | undefined;
  #lost: DeliveryError | undefined;

  private constructor(options: SmppSessionOptions, session: Session) {
    this.#options = options;
    this.#session = session;
  }

  /**
   * @throws DeliveryError if the centre cannot be reached or refuses the login. It is temporary, because the
   *   settings may be wrong.
   */
  static async bind(options: SmppSessionOptions): Promise<SmppSession> {
    const { host, port, tls, systemId, password, systemType } = options;
    const session = smpp.connect({ host, port, tls, ...(tls && { servername: host }) });
    const bound = new SmppSession(options, session);
    bound.#watch();
    try {
      await bound.ask<void>((to, onConnected) => {
        to.once(tls ? 'secureConnect' : 'connect', onConnected);
        return true;
      });
      const fields = { system_id: systemId, password, system_type: systemType, interface_version: 0x34 };
      const { command_status: status } = await bound.ask((to, onResponse) =>
        to.bind_transceiver(fields, onResponse),
      );
      if (status !== 0)
        throw new DeliveryError('temporary', `the SMS centre refused the login: ${nameOf(status)}`);
    } catch (error) {
      bound.#end(error instanceof Error ? error.message : String(error));
      throw error;
    }
    bound.#enquiring = setInterval(() => bound.#enquire(), options.enquireMs);
    bound.#enquiring.unref();
    return bound;
  }

  get isOpen(): boolean {
    return this.#lost === undefined;
  }

  /** @throws DeliveryError if no answer arrives in time, or the connection is lost before it */
  ask<Answer = Pdu>(question: Question<Answer>): Promise<Answer> {
    if (this.#lost) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      const fail = (error: DeliveryError) => {
        clearTimeout(timer);
        this.#pending.delete(fail);
        reject(error);
      };
      const { timeoutMs } = this.#options;
      const late = `the SMS centre did not answer within ${timeoutMs} ms`;
      const timer = setTimeout(() => fail(new DeliveryError('temporary', late)), timeoutMs);
      this.#pending.add(fail);
      const isSent = question(this.#session, (response) => {
        clearTimeout(timer);
        this.#pending.delete(fail);
        resolve(response);
      });
      if (!isSent) fail(new DeliveryError('temporary', 'the connection to the SMS centre is closed'));
    });
  }

  async close(): Promise<void> {
    if (this.#lost) return;
    // The centre need not answer an unbind.
    await this.ask((session, onResponse) => session.unbind(onResponse)).catch(() => {});
    this.#end('the connection to the SMS centre was closed');
  }

  #watch(): void {
    const session = this.#session;
    session.on('error', (error: Error) => this.#end(`the SMS centre cannot be reached: ${error.message}`));
    session.on('close', () => this.#end('the connection to the SMS centre was lost'));
    session.on('enquire_link', (pdu: Pdu) => void session.send(pdu.response()));
    session.on('unbind', (pdu: Pdu) => {
      session.send(pdu.response());
      this.#end('the SMS centre ended the session');
    });
    session.on('deliver_sm', (pdu: Pdu) => {
      session.send(pdu.response());
      this.#options.onDelivered(pdu);
    });
  }

  /** A lost peer is noticed only when a request to it fails. */
  #enquire(): void {
    this.ask((session, onResponse) => session.enquire_link(onResponse)).catch(() =>
      this.#end('the SMS centre does not respond'),
    );
  }

  #end(reason: string): void {
    if (this.#lost) return;
    this.#lost = new DeliveryError('temporary', reason);
    clearInterval(this.#enquiring);
    for (const fail of this.#pending) fail(this.#lost);
    this.#pending.clear();
    this.#session.destroy();
    this.#options.onClosed();
  }
}

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(smpp.errors).map(([name, status]) => [status, name]),
);

/** `ESME_RTHROTTLED (0x58)`. */
export function nameOf(status: number): string {
  return `${NAMES.get(status) ?? 'an unknown status'} (0x${status.toString(16)})`;
}
