import { afterAll, describe, expect, it } from '@jest/globals';
import type { EmailRequest } from '../../../src/services/messaging/email/email-request.js';
import type { Message } from '../../../src/services/messaging/message.js';
import type { SmsRequest } from '../../../src/services/messaging/sms/sms-request.js';
import type { Role } from '../../contract/gateway.js';
import { eventually } from '../../eventually.js';
import { startMailServer } from './mail-server.js';
import { useMessaging } from './use-messaging.js';

const test = useMessaging(() => ({
  MAIL_FROM: 'office@gyan.example',
  SMS_PER_HOUR: '12',
  EMAILS_PER_HOUR: '60',
  SMS_MAX_SEGMENTS: '3',
}));
const servers: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

const HELLO: EmailRequest = { to: 'asha@example.org', subject: 'Hello', text: 'Namaste' };
const SMS: SmsRequest = { to: '5123456789', text: 'Namaste' };

function email(request: Partial<EmailRequest> = {}, as: Role = 'clerk'): Promise<Message> {
  return test.services.messages.sendEmail(test.as(as), { ...HELLO, ...request });
}

async function logOf(id: string): Promise<Record<string, unknown>> {
  return JSON.parse((await test.services.store.get(test.as('admin'), 'sms_log', id)).json);
}

async function query(
  document: string,
  as: Role,
  variables: object = {},
  headers: Record<string, string> = {},
) {
  const response = await test.gateway.fetch('/graphql', {
    method: 'POST',
    as,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: document, variables }),
  });
  return (await response.json()) as {
    data?: Record<string, unknown>;
    errors?: { message: string; extensions: { code: string } }[];
  };
}

async function setServer(url: string | undefined): Promise<void> {
  await test.services.domains.setProperty(test.as('admin'), { name: 'smtpUrl', value: url, isSecret: true });
}

async function release(): Promise<void> {
  await test.gateway.sql.query(`select campus_jobs.add_job('messages.release')`);
}

describe('without a server', () => {
  it('messages are kept, and sent by themselves once there is one', async () => {
    const young = await email({ subject: 'young' });
    const old = await email({ subject: 'old' });
    expect(young).toMatchObject({ state: 'kept', attempts: 0 });
    await test.gateway.sql.query(`update messages set created_at = now() - interval '2 days' where id = $1`, [
      old.id,
    ]);
    await release();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await test.messageOf(young.id)).toMatchObject({ state: 'kept' });

    const server = await startMailServer();
    servers.push(server);
    await setServer(server.url);
    try {
      await release();
      await test.until(young.id, 'sent');
      // Nobody wants the news of the day before yesterday by surprise.
      expect(await test.messageOf(old.id)).toMatchObject({ state: 'kept' });
      await test.services.messages.retry(test.as('admin'), old.id);
      await test.until(old.id, 'sent');
      expect(server.taken.map(({ mail }) => mail.subject)).toEqual(['young', 'old']);
    } finally {
      await setServer(undefined);
    }
  });

  it('text messages are kept with their record', async () => {
    const [message] = await test.services.messages.sendSms(test.as('clerk'), SMS);
    expect(message).toMatchObject({ state: 'kept', recipients: ['+915123456789'] });
    expect(await logOf(message?.id ?? '')).toMatchObject({
      to: '+915123456789',
      text: 'Namaste',
      status: 'queued',
      segments: 1,
      sent_by: { value: 'usr-clerk' },
    });
  });

  it('a message that lost its job is found again', async () => {
    const server = await startMailServer();
    servers.push(server);
    await setServer(server.url);
    try {
      server.refuseMail = () => ({ code: 421, text: 'later' });
      const { id } = await email();
      await eventually(async () => (await test.messageOf(id)).attempts > 0);
      server.refuseMail = () => undefined;
      await test.gateway.sql.query(`select campus_jobs.remove_job('message ' || $1)`, [id]);
      await test.gateway.sql.query(`delete from campus_jobs._private_jobs where key = 'message ' || $1`, [
        id,
      ]);
      await test.gateway.sql.query(
        `update messages set state = 'sending', updated_at = now() - interval '2 hours', ` +
          'next_attempt_at = null where id = $1',
        [id],
      );
      await release();
      await test.until(id, 'sent');
    } finally {
      await setServer(undefined);
    }
  });
});

describe('a text message', () => {
  it('is not queued where its record may not be written', async () => {
    const before = await test.services.messages.count(test.as('admin'), { kind: 'sms' });
    for (const role of ['teacher', 'viewer'] as const) {
      await expect(test.services.messages.sendSms(test.as(role), SMS)).rejects.toMatchObject({
        code: 'FORBIDDEN',
      });
    }
    await expect(
      test.services.messages.sendSms(test.as('clerk'), { ...SMS, category: 'gossip' }),
    ).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    expect(await test.services.messages.count(test.as('admin'), { kind: 'sms' })).toBe(before);
  });

  it('goes to many, all or none', async () => {
    const to = ['+915123456701', '05123456702', '5123456701'];
    const messages = await test.services.messages.sendSms(test.as('clerk'), { ...SMS, to, key: 'batch-1' });
    expect(messages.map(({ recipients }) => recipients[0])).toEqual(['+915123456701', '+915123456702']);
    const again = await test.services.messages.sendSms(test.as('clerk'), { ...SMS, to, key: 'batch-1' });
    expect(again.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    await expect(
      test.services.messages.sendSms(test.as('clerk'), { ...SMS, to: ['+915123456703', 'nobody'] }),
    ).rejects.toMatchObject({ code: 'INVALID_VALUE' });
  });

  it('is filled in', async () => {
    const [message] = await test.services.messages.sendSms(test.as('clerk'), {
      ...SMS,
      text: '{{name}} owes {{amount}} & <more>',
      data: { name: 'Asha', amount: '100.00' },
    });
    expect(message?.content.text).toBe('Asha owes 100.00 & <more>');
  });

  it('is filled in by the defaults of its template, and unused values are pointed out', async () => {
    const hints: string[] = [];
    const as = test.as('clerk');
    const scope = { ...as, call: { ...as.call, onHint: (hint: string) => hints.push(hint) } };
    const text = 'Dear {{name|parent}}, {{=<% %>=}}{{braces}}';
    const [message] = await test.services.messages.sendSms(scope, { ...SMS, text, data: { nam: 'Asha' } });
    expect(message?.content.text).toBe('Dear parent, {{braces}}');
    expect(hints).toEqual(['No placeholder of the template uses "nam". Did you mean "name"?']);
    const email = { ...HELLO, subject: '{{a}}', text: 'b', data: { a: 1, b: 2 } };
    await test.services.messages.sendEmail(scope, email);
    expect(hints.slice(1)).toEqual(['No placeholder of the template uses "b".']);
  });

  const refusals: [what: string, request: Partial<SmsRequest>, code: string][] = [
    ['that is empty', { text: ' ' }, 'INVALID_VALUE'],
    ['with a gap', { text: 'Dear {{name}}, …', data: { nam: 'Asha' } }, 'INVALID_VALUE'],
    ['with a placeholder and no data', { text: 'Dear {{name}}, …' }, 'INVALID_VALUE'],
    ['with a control character', { text: 'a\u0000b' }, 'INVALID_VALUE'],
    ['to nobody', { to: [] }, 'INVALID_VALUE'],
    ['that is too long', { text: 'न'.repeat(202) }, 'LIMIT_EXCEEDED'],
    ['that is far too long', { text: 'x'.repeat(1_000_000) }, 'LIMIT_EXCEEDED'],
    [
      'to a hundred and one',
      { to: Array.from({ length: 101 }, (_, n) => `+9151234${10_000 + n}`) },
      'LIMIT_EXCEEDED',
    ],
    [
      'over the limit of the hour',
      { to: Array.from({ length: 13 }, (_, n) => `+9151234${10_000 + n}`) },
      'TOO_MANY_REQUESTS',
    ],
  ];
  for (const [what, request, code] of refusals) {
    it(`${what} is refused`, async () => {
      await expect(
        test.services.messages.sendSms(test.as('clerk'), { ...SMS, ...request }),
      ).rejects.toMatchObject({ code });
    });
  }
});

describe('an email', () => {
  it('over the limit of the hour is refused: it counts for each recipient', async () => {
    const to = Array.from({ length: 60 }, (_, n) => `a${n}@example.org`);
    await expect(email({ to })).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 600 });
  });
});

describe('the figures of messages', () => {
  it('are those of /metrics', async () => {
    const text = await (await test.gateway.fetch('/metrics')).text();
    expect(text).toMatch(/campus_messages_total\{kind="email",state="sent"\} [1-9]/);
    expect(text).toMatch(/campus_jobs_total\{task="messages.send",outcome="done"\} [1-9]/);
    expect(text).toMatch(/campus_jobs\{state="queued"\} \d/);
  });
});

describe('messages by GraphQL', () => {
  const LIST = `query ($first: Int, $after: String, $recipient: String, $from: DateTime) {
    messages(kind: EMAIL, first: $first, after: $after, recipient: $recipient, from: $from) {
      nodes { subject state createdBy text recipients }
      pageInfo { hasNextPage endCursor }
      totalCount
    }
  }`;

  it('are asked for, once under one key', async () => {
    const send = 'mutation ($data: SendEmailInput!) { sendEmail(data: $data) { id state subject key } }';
    const data = { to: ['one@example.org'], subject: 'By GraphQL', text: 'Namaste' };
    const headers = { 'idempotency-key': 'gql-1' };
    const first = await query(send, 'accountant', { data }, headers);
    expect(first.data?.sendEmail).toMatchObject({ state: 'KEPT', subject: 'By GraphQL', key: 'gql-1' });
    expect((await query(send, 'accountant', { data }, headers)).data).toEqual(first.data);
    const other = await query(send, 'accountant', { data: { ...data, text: 'Other' } }, headers);
    expect(other.errors?.[0]?.extensions.code).toBe('IDEMPOTENCY_CONFLICT');
    expect((await query(send, 'viewer', { data })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    const sms = await query(
      'mutation { sendSms(data: { to: ["+915123456789"], text: "Namaste", category: "notice" }) { ' +
        'state recipients recordId id } }',
      'clerk',
    );
    expect(sms.data?.sendSms).toEqual([
      expect.objectContaining({ state: 'KEPT', recipients: ['+915123456789'] }),
    ]);
  });

  it('are listed page by page, filtered, the newest first', async () => {
    for (const n of [1, 2, 3]) await email({ subject: `page ${n}`, to: 'pages@example.org' });
    const variables = { first: 2, recipient: 'pages@example.org', from: '2020-01-01' };
    const first = (await query(LIST, 'admin', variables)).data?.messages as {
      nodes: object[];
      pageInfo: { endCursor: string };
    };
    expect(first).toMatchObject({
      nodes: [{ subject: 'page 3', state: 'KEPT', createdBy: 'usr-clerk' }, { subject: 'page 2' }],
      pageInfo: { hasNextPage: true },
      totalCount: 3,
    });
    const second = await query(LIST, 'admin', { ...variables, after: first.pageInfo.endCursor });
    expect(second.data?.messages).toMatchObject({
      nodes: [{ subject: 'page 1' }],
      pageInfo: { hasNextPage: false },
    });
    const wrong = await query(LIST, 'admin', { after: 'nonsense' });
    expect(wrong.errors?.[0]?.extensions.code).toBe('INVALID_VALUE');
  });

  it('show everybody but an admin its own alone', async () => {
    await email({ subject: 'of the accountant' }, 'accountant');
    const own = (await query(LIST, 'accountant', {})).data?.messages as { nodes: { createdBy: string }[] };
    expect(new Set(own.nodes.map(({ createdBy }) => createdBy))).toEqual(new Set(['usr-accountant']));
    expect((await query(LIST, 'viewer', {})).data?.messages).toMatchObject({ nodes: [], totalCount: 0 });
    const others = await query('{ messages(createdBy: "usr-clerk") { totalCount } }', 'accountant');
    expect(others.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  it('of another domain are not there', async () => {
    const { id } = await email();
    const admin = test.as('admin');
    const elsewhere = { ...admin, domain: { ...admin.domain, id: 'elsewhere' } };
    expect(await test.services.messages.count(elsewhere, {})).toBe(0);
    await expect(test.services.messages.retry(elsewhere, id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(test.services.messages.discard(elsewhere, id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('are given up by an admin, and their record says so', async () => {
    const [message] = await test.services.messages.sendSms(test.as('clerk'), SMS);
    const id = message?.id ?? '';
    const discard = 'mutation ($id: ID!) { discardMessage(id: $id) { state lastError } }';
    expect((await query(discard, 'clerk', { id })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    expect((await query(discard, 'admin', { id })).data?.discardMessage).toEqual({
      state: 'FAILED',
      lastError: 'discarded by usr-admin',
    });
    expect(await logOf(id)).toMatchObject({ status: 'failed', error: 'discarded by usr-admin' });
    for (const wrong of ['nothing', '01234567-89ab-7def-8123-456789abcdef']) {
      const code = (await query(discard, 'admin', { id: wrong })).errors?.[0]?.extensions.code;
      expect(['INVALID_VALUE', 'NOT_FOUND']).toContain(code);
    }
  });

  it('that were sent are not sent again', async () => {
    const server = await startMailServer();
    servers.push(server);
    await setServer(server.url);
    try {
      const { id } = await email();
      await test.until(id, 'sent');
      const { errors } = await query('mutation ($id: ID!) { retryMessage(id: $id) { id } }', 'admin', { id });
      expect(errors?.[0]).toMatchObject({
        message: 'the message is sent and cannot be sent again',
        extensions: { code: 'CONFLICT' },
      });
    } finally {
      await setServer(undefined);
    }
  });
});

describe('the end of a message', () => {
  it('comes when it was kept long enough, with its attachments', async () => {
    const { id } = await email({ attachments: [{ name: 'a.txt', content: 'YQ==' }] });
    await test.gateway.sql.query(
      `update messages set state = 'sent', updated_at = now() - interval '100 days' where id = $1`,
      [id],
    );
    const kept = await email();
    await test.gateway.sql.query(
      `update messages set updated_at = now() - interval '100 days' where id = $1`,
      [kept.id],
    );
    await test.gateway.sql.query(`select campus_jobs.add_job('messages.purge')`);
    await eventually(async () => {
      const { rows } = await test.gateway.sql.query(
        `select (select count(*) from messages where id = $1)::int as messages,
                (select count(*) from message_attachments where message_id = $1)::int as attachments`,
        [id],
      );
      return rows[0].messages === 0 && rows[0].attachments === 0;
    });
    expect(await test.messageOf(kept.id)).toMatchObject({ state: 'kept' });
  });
});
