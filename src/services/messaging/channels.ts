/**
 * Chooses the channel for a domain's messages: its own mail server or SMS provider if its properties name one
 * (`smtpUrl`, `mailFrom`, `smsUrl`, `smsSender`; sub-domains inherit those of the top domain), else that of
 * the settings, else none. Connections are kept open, and domains with the same server share a channel.
 */
import { getOrMake } from '../../base/process/get-or-make.js';
import type { Domains } from '../../store/catalog/domains.js';
import { isAddress } from './email/email-request.js';
import { type OutgoingEmail, SmtpChannel } from './email/smtp-channel.js';
import { type Channel, DeliveryError, type SmsContent } from './message.js';
import type { MessageSettings } from './message-settings.js';
import { HttpSmsChannel } from './sms/http-channel.js';
import { SmppChannel, type SmsReceipt } from './sms/smpp-channel.js';

export interface EmailChannel {
  readonly channel: Channel<OutgoingEmail>;
  readonly from: string;
}

const SMPP_ENQUIRE_MS = 30_000;
const SMPP_PORT = 2775;
const SMPP_TLS_PORT = 3550;

interface ChannelsOptions {
  readonly config: MessageSettings;
  readonly domains: Pick<Domains, 'property'>;
  readonly onReceipt: (receipt: SmsReceipt) => void;
}

export class Channels {
  readonly #options: ChannelsOptions;
  readonly #email = new Map<string, SmtpChannel>();
  readonly #sms = new Map<string, Channel<SmsContent>>();

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  /** `undefined` if the domain has no mail server. @throws DeliveryError for an invalid configuration */
  findEmail(domainId: string): EmailChannel | undefined {
    const url = this.#textOf(domainId, 'smtpUrl') ?? this.#options.config.smtpUrl;
    const from = this.#textOf(domainId, 'mailFrom') ?? this.#options.config.mailFrom;
    if (url === undefined || from === undefined) return undefined;
    if (!isAddress(from)) {
      throw new DeliveryError(
        'temporary',
        'mailFrom (MAIL_FROM) is not an address, e.g. School <office@example.org>',
      );
    }
    assertUrl(url, ['smtp:', 'smtps:'], 'smtpUrl (SMTP_URL)');
    const { smtpConnections: maxConnections, messageTimeoutMs: timeoutMs } = this.#options.config;
    return {
      from,
      channel: getOrMake(this.#email, url, () => new SmtpChannel({ url, maxConnections, timeoutMs })),
    };
  }

  /** `undefined` if the domain has no SMS provider. @throws DeliveryError for an invalid configuration */
  findSms(domainId: string): Channel<SmsContent> | undefined {
    const url = this.#textOf(domainId, 'smsUrl') ?? this.#options.config.smsUrl;
    if (url === undefined) return undefined;
    const sender = this.#textOf(domainId, 'smsSender') ?? this.#options.config.smsSender;
    return getOrMake(this.#sms, JSON.stringify([url, sender]), () =>
      /^smpps?:/.test(url) ? this.#smpp(url, sender) : this.#http(url, sender),
    );
  }

  has(kind: 'email' | 'sms', domainId: string): boolean {
    try {
      return (kind === 'email' ? this.findEmail(domainId) : this.findSms(domainId)) !== undefined;
    } catch {
      // It is configured, though wrongly: sending the message will report why it fails.
      return true;
    }
  }

  async close(): Promise<void> {
    const channels = [...this.#email.values(), ...this.#sms.values()];
    this.#email.clear();
    this.#sms.clear();
    await Promise.all(channels.map((channel) => channel.close()));
  }

  #smpp(url: string, sender: string): SmppChannel {
    const { hostname, port, protocol, username, password, searchParams } = assertUrl(
      url,
      ['smpp:', 'smpps:'],
      'smsUrl (SMS_URL)',
    );
    const tls = protocol === 'smpps:';
    return new SmppChannel({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (tls ? SMPP_TLS_PORT : SMPP_PORT)),
      tls,
      systemId: decodeURIComponent(username),
      password: decodeURIComponent(password),
      systemType: searchParams.get('systemType') ?? '',
      sender,
      timeoutMs: this.#options.config.messageTimeoutMs,
      enquireMs: SMPP_ENQUIRE_MS,
      onReceipt: this.#options.onReceipt,
    });
  }

  #http(url: string, sender: string): HttpSmsChannel {
    assertUrl(url, ['http:', 'https:'], 'smsUrl (SMS_URL)');
    return new HttpSmsChannel({ ...this.#options.config, url, sender });
  }

  #textOf(domainId: string, property: string): string | undefined {
    const value = this.#options.domains.property(domainId, property);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }
}

/** The error does not repeat the text, which may contain a password. @throws DeliveryError */
function assertUrl(text: string, protocols: readonly string[], name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && protocols.includes(url.protocol) && url.hostname !== '') return url;
  const expected = protocols.map((protocol) => `${protocol}//…`).join(' or ');
  throw new DeliveryError('temporary', `${name} is not an address of the form ${expected}`);
}
