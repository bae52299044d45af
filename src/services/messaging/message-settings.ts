/** The settings of messages. Part of the list of `config.ts`. */

import { z } from 'zod';
import { tryTo } from '../../base/errors.js';
import {
  bytesSetting,
  daysSetting,
  positiveSetting,
  rolesSetting,
  type SettingValues,
  setting,
  wholeNumberSetting,
  wordSetting,
} from '../../base/settings.js';

const TEXTS = 'expected a JSON object of texts, e.g. {"Authorization":"Bearer …"}';

export const MESSAGE_SETTINGS = {
  smtpUrl: setting(
    z
      .string()
      .regex(/^smtps?:\/\/\S+$/, 'expected smtp://user:password@host:587 or smtps://user:password@host:465')
      .optional(),
    'mail server; smtps:// is TLS from the start, smtp:// takes STARTTLS where it is offered, ' +
      '?requireTLS=true insists; unset: emails are kept until there is one. The property smtpUrl of ' +
      'a domain has precedence',
  ),
  mailFrom: setting(
    z.string().min(3).optional(),
    'sender of emails, e.g. Gyan Vidya School <office@example.org>; the property mailFrom of a ' +
      'domain has precedence',
  ),
  smtpConnections: setting(wholeNumberSetting(1, 50), 'connections to a mail server', '2'),
  emailRoles: setting(
    rolesSetting,
    'roles that may send email, separated by commas; text messages need the right to create ' +
      'records of sms_log',
    'admin,accountant,clerk',
  ),
  emailMaxBytes: setting(
    bytesSetting,
    'largest email, with attachments that are not files of the school',
    '10485760',
  ),
  emailsPerHour: setting(
    positiveSetting,
    'emails a school may request in an hour, one for each recipient',
    '2000',
  ),
  smsUrl: setting(
    z
      .string()
      .regex(
        /^(smpps?|https?):\/\/\S+$/,
        'expected smpp://user:password@host:2775 or the https:// address of a provider',
      )
      .optional(),
    'SMS provider: smpp://, smpps:// (TLS), or an HTTP address, which may hold {{to}} {{digits}} ' +
      '{{text}} {{sender}} {{template}} {{id}} {{unicode}}; unset: text messages are kept until ' +
      'there is one. The property smsUrl of a domain has precedence',
  ),
  smsSender: setting(
    z.string().regex(/^(\+?\d{0,15}|[\w .-]{1,11})$/, 'expected a number or a name of up to 11 characters'),
    'sender of text messages: a number, or a name of up to 11 characters; the property smsSender ' +
      'of a domain has precedence',
    '',
  ),
  smsHttpMethod: setting(wordSetting(['GET', 'POST', 'PUT']), 'SMS by HTTP: method', 'POST'),
  smsHttpHeaders: setting(
    z.preprocess(
      (text) => tryTo(() => JSON.parse(String(text))),
      z.record(z.string(), z.string(TEXTS), TEXTS),
    ),
    'SMS by HTTP: headers, as a JSON object of texts',
    '{}',
  ),
  smsHttpBody: setting(
    z.string().optional(),
    'SMS by HTTP: body, with the places SMS_URL may hold; JSON or a form, e.g. ' +
      '{"to":"{{to}}","text":"{{text}}"} or to={{digits}}&text={{text}}',
  ),
  smsHttpSuccess: setting(
    z.preprocess(toPattern, z.instanceof(RegExp, { error: 'expected a regular expression' })).optional(),
    'SMS by HTTP: regular expression that the answer to an accepted message matches; unset: every ' +
      'answer of status 2xx',
  ),
  smsHttpIdPath: setting(
    z.string().optional(),
    "SMS by HTTP: where a JSON answer has the provider's id, e.g. data.0.id",
  ),
  smsCountryCode: setting(
    z.string().regex(/^[1-9]\d{0,3}$/, 'expected a calling code, e.g. 91'),
    'calling code of telephone numbers that are written without one, in a school that has not set the ' +
      'property callingCode',
    '91',
  ),
  smsMaxSegments: setting(
    wholeNumberSetting(1, 255),
    'longest text message, in segments (160 characters, 153 each when there are several; 70 and 67 ' +
      'where the text needs Unicode)',
    '8',
  ),
  smsPerHour: setting(positiveSetting, 'text messages a school may request in an hour', '10000'),
  messageMaxRecipients: setting(
    positiveSetting,
    'recipients of one email, and numbers of one request for text messages',
    '100',
  ),
  messageMaxAttempts: setting(positiveSetting, 'how often a message is tried before it is given up', '12'),
  messageRetryMs: setting(
    positiveSetting,
    'wait after the first attempt to send, in milliseconds; each wait is twice the last, an hour at most',
    '30000',
  ),
  messageTimeoutMs: setting(
    positiveSetting,
    'how long a mail server or SMS provider may take to answer, in milliseconds',
    '20000',
  ),
  sendKeptHours: setting(
    wholeNumberSetting(0, 876_000),
    'messages kept because no server was configured are sent once there is one, unless they are ' +
      'older than this; older ones wait for retryMessage',
    '24',
  ),
  keepMessagesDays: setting(
    daysSetting,
    'how long messages that were sent or given up are shown, with their texts and attachments, ' +
      'before they are purged',
    '90',
  ),
} as const;

export type MessageSettings = SettingValues<typeof MESSAGE_SETTINGS>;

function toPattern(text: unknown): unknown {
  return text === undefined ? text : (tryTo(() => new RegExp(String(text))) ?? null);
}
