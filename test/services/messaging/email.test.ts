import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/base/json/json.js';
import type { EmailRequest } from '../../../src/services/messaging/email/email-request.js';
import { eventually } from '../../eventually.js';
import { type MailServer, startMailServer } from './mail-server.js';
import { useMessaging } from './use-messaging.js';

let server: MailServer;
const test = useMessaging(async () => {
  server = await startMailServer();
  return {
    SMTP_URL: server.url,
    MAIL_FROM: 'Gyan Vidya School <office@gyan.example>',
    MESSAGE_MAX_ATTEMPTS: '4',
    EMAIL_MAX_BYTES: '3000000',
    LOG_LEVEL: 'debug',
  };
});

afterEach(() => {
  server.taken.length = 0;
  server.attempts = 0;
  server.refuseMail = () => undefined;
  server.refuseRecipient = () => undefined;
});

afterAll(() => server.close());

const HELLO: EmailRequest = { to: 'asha@example.org', subject: 'Hello', text: 'Namaste' };

async function send(request: Partial<EmailRequest>) {
  return await test.services.messages.sendEmail(test.as('clerk'), { ...HELLO, ...request });
}

describe('an email', () => {
  it('arrives as it was asked for', async () => {
    const { id } = await send({
      to: ['Asha Rao <asha@example.org>', 'dev@example.org'],
      cc: 'head@example.org',
      bcc: 'archive@example.org',
      replyTo: 'fees@gyan.example',
      subject: 'शुल्क – due',
      text: 'Please pay.',
      html: '<p>Please <b>pay</b>.</p>',
    });
    const message = await test.until(id, 'sent');
    expect(message).toMatchObject({ attempts: 1, providerId: 'Q123', createdBy: 'usr-clerk' });
    const [taken] = server.taken;
    expect(taken).toMatchObject({
      from: 'office@gyan.example',
      to: ['asha@example.org', 'dev@example.org', 'head@example.org', 'archive@example.org'],
      user: 'school',
    });
    expect(taken?.mail).toMatchObject({
      subject: 'शुल्क – due',
      text: 'Please pay.',
      html: '<p>Please <b>pay</b>.</p>',
      messageId: `<${id}@gyan.example>`,
      from: { name: 'Gyan Vidya School', address: 'office@gyan.example' },
      replyTo: [{ address: 'fees@gyan.example' }],
    });
    expect(taken?.raw).not.toContain('archive@example.org');
  });

  it('brings its attachments byte for byte', async () => {
    const bytes = randomBytes(1_000_000);
    const { id } = await send({
      attachments: [
        { name: 'मार्कशीट.pdf', contentType: 'application/pdf', content: bytes.toString('base64') },
        { name: 'note.txt', content: Buffer.from('hello\r\n.\r\nworld').toString('base64') },
      ],
    });
    await test.until(id, 'sent');
    const [pdf, note] = server.taken[0]?.mail.attachments ?? [];
    expect(pdf).toMatchObject({ filename: 'मार्कशीट.pdf', mimeType: 'application/pdf' });
    expect(pdf?.content.equals(bytes)).toBe(true);
    expect(note?.content.toString()).toBe('hello\r\n.\r\nworld');
  });

  it('may bring a file of the school', async () => {
    const bytes = randomBytes(700_000);
    const file = await test.services.files.create(test.as('clerk'), {
      name: 'results.pdf',
      contentType: 'application/pdf',
      stream: [bytes].values() as unknown as AsyncIterable<Uint8Array>,
    });
    const { id } = await send({ attachments: [{ name: '', fileId: file.id }] });
    await test.until(id, 'sent');
    const [attachment] = server.taken[0]?.mail.attachments ?? [];
    expect(attachment?.filename).toBe('results.pdf');
    expect(attachment?.content.equals(bytes)).toBe(true);
  });

  it('is filled in from a template, its values escaped in HTML alone', async () => {
    const { id } = await send({
      subject: 'Fees of {{name}}',
      text: '{{#dues}}{{head}}: {{amount}}\n{{/dues}}',
      html: '<p title="{{name}}">{{name}}</p>',
      data: {
        name: '<b>"A & B"</b>',
        dues: [
          { head: 'Tuition', amount: '1200.00' },
          { head: 'Bus', amount: '300.00' },
        ],
      },
    });
    await test.until(id, 'sent');
    expect(server.taken[0]?.mail.subject).toBe('Fees of <b>"A & B"</b>');
    expect(server.taken[0]?.mail.text).toBe('Tuition: 1200.00\nBus: 300.00');
    expect(server.taken[0]?.mail.html).toBe(
      '<p title="&#60;b&#62;&#34;A &#38; B&#34;&#60;&#47;b&#62;">&#60;b&#62;&#34;A &#38; ' +
        'B&#34;&#60;&#47;b&#62;</p>',
    );
  });

  it('may take a template that the school keeps as a property', async () => {
    await test.services.domains.setProperty(test.as('admin'), {
      name: 'mailTemplate.welcome',
      value: { subject: 'Welcome, {{name}}', text: 'Dear {{name}}, …' },
    });
    const { messages } = test.services;
    const { id } = await messages.sendEmail(test.as('clerk'), {
      to: 'asha@example.org',
      template: 'welcome',
      data: { name: 'Asha' },
    });
    await test.until(id, 'sent');
    expect(server.taken[0]?.mail).toMatchObject({ subject: 'Welcome, Asha' });
    await expect(
      messages.sendEmail(test.as('clerk'), { to: 'asha@example.org', template: 'farewell' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is not there when the transaction it was asked for in is rolled back', async () => {
    const work = test.services.database.transaction(async (tx) => {
      await test.services.messages.sendEmail(test.as('clerk'), { ...HELLO, subject: 'never' }, tx);
      throw new Error('changed my mind');
    });
    await expect(work).rejects.toThrow('changed my mind');
    const { rows: messages } = await test.services.messages.list(test.as('admin'), {
      filter: {},
      limit: 1000,
    });
    expect(messages.filter(({ subject }) => subject === 'never')).toEqual([]);
  });

  it('asked for twice under one key is sent once', async () => {
    const first = await send({ key: 'reminder-1' });
    const second = await send({ key: 'reminder-1' });
    expect(second.id).toBe(first.id);
    await test.until(first.id, 'sent');
    expect(server.taken).toHaveLength(1);
    await expect(send({ key: 'reminder-1', text: 'other' })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('asked for by many at once under one key is sent once', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, () => send({ key: 'reminder-2' })));
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    await test.until(asked[0]?.id ?? '', 'sent');
    expect(server.taken).toHaveLength(1);
  });
});

describe('a message that is being sent', () => {
  it('is left alone by every other job', async () => {
    server.refuseMail = (attempt) => (attempt === 1 ? 'silence' : undefined);
    const { id } = await send({});
    await eventually(() => server.attempts === 1);
    await test.gateway.sql.query(
      `select campus_jobs.add_job('messages.send', json_build_object('id', $1::text))`,
      [id],
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await test.messageOf(id)).toMatchObject({ state: 'sending', attempts: 1 });
    await test.until(id, 'sent');
    expect(server.taken).toHaveLength(1);
  });

  it('is sent again after the death of its gateway: by its job, or by another if that is lost', async () => {
    const { id } = await send({});
    await test.until(id, 'sent');
    const { rows } = await test.gateway.sql.query('select job_id from messages where id = $1', [id]);
    const { messageDelivery } = test.services;
    const { signal } = new AbortController();
    for (const jobId of [rows[0].job_id, '1']) {
      await test.gateway.sql.query(`update messages set state = 'sending' where id = $1`, [id]);
      expect(await messageDelivery.send(id, { jobId, signal })).toMatchObject({ state: 'sent' });
    }
    expect(new Set(server.taken.map(({ mail }) => mail.messageId)).size).toBe(1);
  });
});

describe('a mail server that refuses', () => {
  it('for now is asked again', async () => {
    server.refuseMail = (attempt) =>
      attempt < 3 ? { code: 451, text: 'Greylisted, come back later' } : undefined;
    const { id } = await send({});
    const message = await test.until(id, 'sent');
    expect(message).toMatchObject({ attempts: 3, lastError: undefined });
    expect(server.taken).toHaveLength(1);
  });

  it('for good is asked once', async () => {
    server.refuseMail = () => ({ code: 554, text: 'No spam here' });
    const { id } = await send({});
    const message = await test.until(id, 'failed');
    expect(message.attempts).toBe(1);
    expect(message.lastError).toContain('No spam here');
  });

  it('without end is given up', async () => {
    server.refuseMail = () => ({ code: 421, text: 'Too busy' });
    const { id } = await send({});
    const message = await test.until(id, 'failed');
    expect(message.attempts).toBe(4);
    expect(message.lastError).toMatch(/^given up after 4 attempts: .*Too busy/);
  });

  it('some recipients for now gets the mail for those alone again', async () => {
    let refusals = 0;
    server.refuseRecipient = (address) => {
      if (address === 'gone@example.org') return { code: 550, text: 'No such user' };
      return address === 'slow@example.org' && refusals++ === 0
        ? { code: 450, text: 'Greylisted' }
        : undefined;
    };
    const { id } = await send({ to: ['asha@example.org', 'slow@example.org', 'gone@example.org'] });
    await test.until(id, 'sent');
    expect(server.taken.map(({ to }) => to)).toEqual([['asha@example.org'], ['slow@example.org']]);
  });

  it('every recipient for good has the mail failed', async () => {
    server.refuseRecipient = () => ({ code: 550, text: 'No such user' });
    const { id } = await send({});
    expect((await test.until(id, 'failed')).lastError).toContain('No such user');
  });

  it('by silence is given up on in time', async () => {
    server.refuseMail = (attempt) => (attempt === 1 ? 'silence' : undefined);
    const { id } = await send({});
    const message = await test.until(id, 'sent');
    expect(message.attempts).toBe(2);
  });

  it('our password has the mail wait for better settings', async () => {
    const url = new URL(server.url);
    url.password = 'wrong-password';
    await test.services.domains.setProperty(test.as('admin'), {
      name: 'smtpUrl',
      value: url.href,
      isSecret: true,
    });
    try {
      const { id } = await send({});
      await eventually(async () => (await test.messageOf(id)).attempts > 0);
      await test.services.domains.setProperty(test.as('admin'), { name: 'smtpUrl', value: undefined });
      await test.services.messages.retry(test.as('admin'), id).catch(() => {});
      await test.until(id, 'sent');
    } finally {
      await test.services.domains.setProperty(test.as('admin'), { name: 'smtpUrl', value: undefined });
    }
    expect(test.gateway.log.join('')).not.toContain('wrong-password');
  });
});

describe('a mail server with TLS', () => {
  it('is spoken to in secret, and not at all when its certificate is not believed', async () => {
    const secure = await startMailServer({ disabledCommands: [], logger: false });
    const use = (value: string | undefined) =>
      test.services.domains.setProperty(test.as('admin'), { name: 'smtpUrl', value, isSecret: true });
    try {
      await use(`${secure.url}?requireTLS=true`);
      const { id } = await send({});
      const failed = await test.until(id, 'failed');
      expect(failed.lastError).toMatch(/certificate/);
      expect(secure.taken).toEqual([]);
      await use(`${secure.url}?requireTLS=true&tls.rejectUnauthorized=false`);
      await test.services.messages.retry(test.as('admin'), id);
      await test.until(id, 'sent');
      expect(secure.taken[0]).toMatchObject({ isEncrypted: true, user: 'school' });
    } finally {
      await use(undefined);
      await secure.close();
    }
  });

  it('that offers none is not spoken to where it is asked for', async () => {
    const use = (value: string | undefined) =>
      test.services.domains.setProperty(test.as('admin'), { name: 'smtpUrl', value, isSecret: true });
    try {
      await use(`${server.url}?requireTLS=true`);
      const { id } = await send({});
      await test.until(id, 'failed');
      expect(server.taken).toEqual([]);
    } finally {
      await use(undefined);
    }
  });
});

describe('what is refused', () => {
  const cases: [what: string, request: Partial<EmailRequest>, code: string, parameter?: string][] = [
    ['nobody to send to', { to: [] }, 'INVALID_VALUE', 'to'],
    ['an address that is none', { to: 'asha' }, 'INVALID_VALUE', 'to'],
    ['two million blanks in an address', { to: `a${' '.repeat(2_000_000)}<b@c.d` }, 'INVALID_VALUE', 'to'],
    ['a header in an address', { to: 'asha@example.org\r\nBcc: all@example.org' }, 'INVALID_VALUE', 'to'],
    ['a header in a name', { cc: 'Asha\nX-Spam: no <asha@example.org>' }, 'INVALID_VALUE', 'cc'],
    ['a header in the address to answer to', { replyTo: 'a@b.c\r\nX: y' }, 'INVALID_VALUE', 'replyTo'],
    ['two addresses in one', { to: 'a@example.org, b@example.org' }, 'INVALID_VALUE', 'to'],
    ['a header in the subject', { subject: 'Hello\r\nBcc: all@example.org' }, 'INVALID_VALUE', 'subject'],
    [
      'a header by a template',
      { subject: 'Hello {{x}}', data: { x: 'a\r\nBcc: b@c.d' } },
      'INVALID_VALUE',
      'subject',
    ],
    ['nothing in it', { text: undefined }, 'INVALID_VALUE', 'text'],
    ['a template that is none', { text: '{{#a}}', data: {} }, 'INVALID_VALUE'],
    ['a text with a gap', { text: 'Dear {{name}}', data: { name: null } }, 'INVALID_VALUE'],
    ['a subject with a gap', { subject: 'Fees of {{name}}', data: {} }, 'INVALID_VALUE'],
    ['a page with a gap', { html: '<p>{{name}}</p>', data: { name: '' } }, 'INVALID_VALUE'],
    ['a template without data', { text: 'Dear {{name}}' }, 'INVALID_VALUE'],
    [
      'a hundred and one recipients',
      { to: Array.from({ length: 101 }, (_, n) => `a${n}@example.org`) },
      'LIMIT_EXCEEDED',
    ],
    ['a text that is too long', { text: 'x'.repeat(3_000_001) }, 'LIMIT_EXCEEDED'],
    [
      'an attachment that is too large',
      { attachments: [{ name: 'a', content: Buffer.alloc(3_000_000).toString('base64') }] },
      'LIMIT_EXCEEDED',
    ],
    [
      'an attachment that is not base64',
      { attachments: [{ name: 'a', content: 'päckchen' }] },
      'INVALID_VALUE',
      'attachments/0/content',
    ],
    [
      'an attachment with a header in its name',
      { attachments: [{ name: 'a\r\nX: y', content: 'YQ==' }] },
      'INVALID_VALUE',
      'attachments/0/name',
    ],
    [
      'an attachment with a header in its type',
      { attachments: [{ name: 'a', contentType: 'text/plain\r\nX: y', content: 'YQ==' }] },
      'INVALID_VALUE',
      'attachments/0/contentType',
    ],
    ['an attachment of a path', { attachments: [{ name: 'a' }] }, 'INVALID_VALUE', 'attachments/0'],
    [
      'a file that is not there',
      { attachments: [{ name: 'a', fileId: '01234567-89ab-7def-8123-456789abcdef' }] },
      'NOT_FOUND',
    ],
    [
      'a template that multiplies',
      {
        text: '{{#a}}{{#a}}{{#a}}{{#a}}x{{/a}}{{/a}}{{/a}}{{/a}}',
        data: { a: Array.from({ length: 100 }, () => ({})) },
      },
      'LIMIT_EXCEEDED',
    ],
  ];
  for (const [what, request, code, parameter] of cases) {
    it(what, async () => {
      await expect(send(request)).rejects.toMatchObject({
        code,
        ...(parameter && {
          message: expect.stringContaining(`cannot be sent: ${parameter}: `),
          errors: expect.arrayContaining([expect.objectContaining({ parameter })]),
        }),
      });
    });
  }

  it('a caller whose roles send no email', async () => {
    const { messages } = test.services;
    await expect(messages.sendEmail(test.as('viewer'), HELLO)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const clerk = test.as('clerk');
    const key = { collections: { '*': ['create' as const] }, reports: ['*'], scripts: ['*'] };
    await expect(
      messages.sendEmail({ ...clerk, principal: { ...clerk.principal, scopes: key } }, HELLO),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('reaching for what a template was not given', async () => {
    const { id } = await send({
      text: '[{{constructor.name|}}{{__proto__|}}{{toString|}}{{name.length}}]',
      data: { name: 'abc' },
    });
    await test.until(id, 'sent');
    expect(server.taken[0]?.mail.text).toBe('[3]');
  });
});

describe('an email whose sender', () => {
  const change = (data: JsonObject) => {
    const { store } = test.services;
    return store.update(test.as('admin'), 'pltf_user', 'usr-clerk', { data, mode: 'merge' });
  };

  it.each<[string, JsonObject, JsonObject]>([
    ['is deactivated meanwhile', { active: false }, { active: true }],
    ['loses the role meanwhile', { roles: ['viewer'] }, { roles: ['clerk'] }],
  ])('%s is not sent, but by an admin who sends it again', async (_what, loss, back) => {
    // The first attempt lasts until the gateway gives up waiting.
    server.refuseMail = (attempt) => (attempt === 1 ? 'silence' : undefined);
    const { id } = await send({});
    await eventually(() => server.attempts === 1);
    await change(loss);
    const failed = await test.until(id, 'failed');
    expect(failed.lastError).toBe('not sent: the user who queued it may not send it any more');
    expect(server.taken).toHaveLength(0);
    await test.services.messages.retry(test.as('admin'), id);
    await test.until(id, 'sent');
    expect(server.taken).toHaveLength(1);
    await change(back);
  });
});
