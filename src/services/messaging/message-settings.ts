/** The settings of messages. Part of the list of `config.ts`. */
import { z } from 'zod';
import {
  bytesSetting,
  daysSetting,
  positiveSetting,
  rolesSetting,
  wholeNumberSetting,
  wordSetting,
} from '../../base/settings.js';

export const MESSAGE_SETTINGS = {
  smtpUrl: {
    variable: 'SMTP_URL',
    schema: z
      .string()
      .regex(/^smtps?:\/\/\S+$/, 'expected smtp://user:password@host:587 or smtps://user:password@host:465')
      .optional(),
    meaning:
      'mail server; smtps:// is TLS from the start, smtp:// takes STARTTLS where it is offered, ' +
      '?requireTLS=true insists; unset: emails are kept until there is one. The property smtpUrl of ' +
      'a domain has precedence',
  },
  mailFrom: {
    variable: 'MAIL_FROM',
    schema: z.string().min(3).optional(),
    meaning:
      'sender of emails, e.g. Gyan Vidya School <office@example.org>; the property mailFrom of a ' +
      'domain has precedence',
  },
  smtpConnections: {
    variable: 'SMTP_CONNECTIONS',
    default: '2',
    schema: wholeNumberSetting(1, 50),
    meaning: 'connections to a mail server',
  },
  emailRoles: {
    variable: 'EMAIL_ROLES',
    default: 'admin,accountant,clerk',
    schema: rolesSetting,
    meaning:
      'roles that may send email, separated by commas; text messages need the right to create ' +
      'records of sms_log',
  },
  emailMaxBytes: {
    variable: 'EMAIL_MAX_BYTES',
    default: '10485760',
    schema: bytesSetting,
    meaning: 'largest email, with attachments that are not files of the school',
  },
  emailsPerHour: {
    variable: 'EMAILS_PER_HOUR',
    default: '2000',
    schema: positiveSetting,
    meaning: 'emails a school may ask for in an hour, one for each recipient',
  },
  smsUrl: {
    variable: 'SMS_URL',
    schema: z
      .string()
      .regex(
        /^(smpps?|https?):\/\/\S+$/,
        'expected smpp://user:password@host:2775 or the https:// address of a provider',
      )
      .optional(),
    meaning:
      'SMS provider: smpp://, smpps:// (TLS), or an HTTP address, which may hold {{to}} {{digits}} ' +
      '{{text}} {{sender}} {{template}} {{id}} {{unicode}}; unset: text messages are kept until ' +
      'there is one. The property smsUrl of a domain has precedence',
  },
  smsSender: {
    variable: 'SMS_SENDER',
    default: '',
    schema: z
      .string()
      .regex(/^(\+?\d{0,15}|[\w .-]{1,11})$/, 'expected a number or a name of up to 11 characters'),
    meaning:
      'sender of text messages: a number, or a name of up to 11 characters; the property smsSender ' +
      'of a domain has precedence',
  },
  smsHttpMethod: {
    variable: 'SMS_HTTP_METHOD',
    default: 'POST',
    schema: wordSetting(['GET', 'POST', 'PUT']),
    meaning: 'SMS by HTTP: method',
  },
  smsHttpHeaders: {
    variable: 'SMS_HTTP_HEADERS',
    default: '{}',
    schema: z
      .string()
      .refine(isObjectOfTexts, 'expected a JSON object of texts, e.g. {"Authorization":"Bearer …"}'),
    meaning: 'SMS by HTTP: headers, as a JSON object of texts',
  },
  smsHttpBody: {
    variable: 'SMS_HTTP_BODY',
    schema: z.string().optional(),
    meaning:
      'SMS by HTTP: body, with the places SMS_URL may hold; JSON or a form, e.g. ' +
      '{"to":"{{to}}","text":"{{text}}"} or to={{digits}}&text={{text}}',
  },
  smsHttpSuccess: {
    variable: 'SMS_HTTP_SUCCESS',
    schema: z.string().refine(isRegularExpression, 'expected a regular expression').optional(),
    meaning:
      'SMS by HTTP: regular expression that the answer to an accepted message matches; unset: every ' +
      'answer of status 2xx',
  },
  smsHttpIdPath: {
    variable: 'SMS_HTTP_ID_PATH',
    schema: z.string().optional(),
    meaning: "SMS by HTTP: where a JSON answer has the provider's id, e.g. data.0.id",
  },
  smsCountryCode: {
    variable: 'SMS_COUNTRY_CODE',
    default: '91',
    schema: z.string().regex(/^[1-9]\d{0,3}$/, 'expected a calling code, e.g. 91'),
    meaning:
      'calling code of telephone numbers that are written without one, in a school that has not set the ' +
      'property callingCode',
  },
  smsMaxSegments: {
    variable: 'SMS_MAX_SEGMENTS',
    default: '8',
    schema: wholeNumberSetting(1, 255),
    meaning:
      'longest text message, in segments (160 characters, 153 each when there are several; 70 and 67 ' +
      'where the text needs Unicode)',
  },
  smsPerHour: {
    variable: 'SMS_PER_HOUR',
    default: '10000',
    schema: positiveSetting,
    meaning: 'text messages a school may ask for in an hour',
  },
  messageMaxRecipients: {
    variable: 'MESSAGE_MAX_RECIPIENTS',
    default: '100',
    schema: positiveSetting,
    meaning: 'recipients of one email, and numbers of one request for text messages',
  },
  messageMaxAttempts: {
    variable: 'MESSAGE_MAX_ATTEMPTS',
    default: '12',
    schema: positiveSetting,
    meaning: 'how often a message is tried before it is given up',
  },
  messageRetryMs: {
    variable: 'MESSAGE_RETRY_MS',
    default: '30000',
    schema: positiveSetting,
    meaning:
      'wait after the first attempt to send, in milliseconds; each wait is twice the last, an hour at most',
  },
  messageTimeoutMs: {
    variable: 'MESSAGE_TIMEOUT_MS',
    default: '20000',
    schema: positiveSetting,
    meaning: 'how long a mail server or SMS provider may take to answer, in milliseconds',
  },
  sendKeptHours: {
    variable: 'SEND_KEPT_HOURS',
    default: '24',
    schema: wholeNumberSetting(0, 876_000),
    meaning:
      'messages kept for want of a server are sent by themselves once there is one, unless they are ' +
      'older than this; the older ones wait for retryMessage',
  },
  keepMessagesDays: {
    variable: 'KEEP_MESSAGES_DAYS',
    default: '90',
    schema: daysSetting,
    meaning:
      'how long messages that were sent or given up are shown, with their texts and attachments, ' +
      'before they are purged',
  },
} as const;

function isObjectOfTexts(text: string): boolean {
  try {
    const headers: unknown = JSON.parse(text);
    if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return false;
    return Object.values(headers).every((value) => typeof value === 'string');
  } catch {
    return false;
  }
}

function isRegularExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}
