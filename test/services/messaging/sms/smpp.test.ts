import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import smpp from 'smpp';
import { eventually } from '../../../eventually.js';
import { useMessaging } from '../use-messaging.js';
import { type SmsCentre, startSmsCentre } from './sms-centre.js';

let centre: SmsCentre;
const test = useMessaging(async () => {
  centre = await startSmsCentre();
  return { SMS_URL: centre.url, SMS_SENDER: 'GYANVS', MESSAGE_MAX_ATTEMPTS: '3', LOG_LEVEL: 'debug' };
});

afterEach(() => {
  centre.taken.length = 0;
  centre.answer = () => 0;
});

afterAll(() => centre.close());

async function send(text: string, to = '+915123456789') {
  const [message] = await test.services.messages.sendSms(test.as('clerk'), { to, text, category: 'notice' });
  if (!message) throw new Error('nothing was queued');
  return message;
}

async function logOf(id: string): Promise<Record<string, unknown>> {
  const { json } = await test.services.store.get(test.as('admin'), 'sms_log', id);
  return JSON.parse(json);
}

describe('a text message by SMPP', () => {
  it('is submitted in the GSM alphabet, and its record says so', async () => {
    const { id } = await send('Fees due: 100 € [July]');
    expect(await logOf(id)).toMatchObject({
      status: 'queued',
      segments: 1,
      to: '+915123456789',
      sent_by: { value: 'usr-clerk' },
    });
    await test.until(id, 'sent');
    expect(centre.taken).toHaveLength(1);
    expect(centre.taken[0]).toMatchObject({
      source_addr: 'GYANVS',
      destination_addr: '915123456789',
      data_coding: 0,
      registered_delivery: 1,
    });
    expect(centre.taken[0]?.short_message?.message).toBe('Fees due: 100 € [July]');
    expect(await logOf(id)).toMatchObject({
      status: 'sent',
      provider_id: expect.stringMatching(/^M\d+$/),
      category: 'notice',
    });
  });

  it('is submitted in Unicode where it must be', async () => {
    const { id } = await send('प्रिय अभिभावक 🙏');
    await test.until(id, 'sent');
    expect(centre.taken[0]).toMatchObject({ data_coding: 8 });
    expect(centre.taken[0]?.short_message?.message).toBe('प्रिय अभिभावक 🙏');
  });

  it('that is long goes in parts that belong together', async () => {
    const text = 'ক'.repeat(66) + '🙏'.repeat(40);
    const { id } = await send(text);
    await test.until(id, 'sent');
    const parts = centre.taken.map(({ short_message: part, esm_class: esm }) => ({ ...part, esm }));
    expect(parts).toHaveLength(3);
    expect(parts.map(({ message }) => message).join('')).toBe(text);
    expect(parts.map(({ udh }) => [...(udh?.[0] ?? [])].slice(-2))).toEqual([
      [3, 1],
      [3, 2],
      [3, 3],
    ]);
    expect(new Set(parts.map(({ udh }) => udh?.[0]?.[2])).size).toBe(1);
    expect(parts.every(({ esm }) => esm === 0x40)).toBe(true);
    expect(await logOf(id)).toMatchObject({ segments: 3 });
  });

  it('becomes delivered, or failed, when the network says so', async () => {
    const [one, other] = [await send('one'), await send('other', '+915123456780')];
    const [sent, lost] = [await test.until(one.id, 'sent'), await test.until(other.id, 'sent')];
    centre.deliver(sent.providerId ?? '', 'DELIVRD');
    centre.deliver(lost.providerId ?? '', 'UNDELIV');
    await eventually(async () => (await logOf(one.id)).status === 'delivered');
    await eventually(async () => (await logOf(other.id)).status === 'failed');
    expect(await logOf(other.id)).toMatchObject({ error: 'not delivered: UNDELIV' });
  });

  it('goes by one login for all', async () => {
    const before = centre.logins;
    const sent = await Promise.all(Array.from({ length: 10 }, (_, n) => send(`no. ${n}`)));
    await Promise.all(sent.map(({ id }) => test.until(id, 'sent')));
    expect(centre.logins).toBe(before);
  });

  it('is tried again when the centre is too busy', async () => {
    let refusals = 0;
    centre.answer = () => (refusals++ === 0 ? (smpp.errors.ESME_RTHROTTLED ?? 1) : 0);
    const { id } = await send('busy');
    expect(await test.until(id, 'sent')).toMatchObject({ attempts: 2 });
  });

  it('fails at once when the centre will never take it', async () => {
    centre.answer = () => smpp.errors.ESME_RINVDSTADR ?? 1;
    const { id } = await send('wrong number');
    const message = await test.until(id, 'failed');
    expect(message).toMatchObject({
      attempts: 1,
      lastError: 'the SMS centre refused the message: ESME_RINVDSTADR (0xb)',
    });
    expect(await logOf(id)).toMatchObject({ status: 'failed', error: message.lastError });
  });

  it('is tried again when the centre does not answer', async () => {
    let count = 0;
    centre.answer = () => (count++ === 0 ? 'silence' : 0);
    const { id } = await send('silence');
    expect(await test.until(id, 'sent')).toMatchObject({ attempts: 2 });
  });

  it('logs in anew after the connection was lost', async () => {
    const before = centre.logins;
    centre.cut();
    const { id } = await send('again');
    await test.until(id, 'sent');
    expect(centre.logins).toBeGreaterThan(before);
  });

  it('is given up when there is no centre', async () => {
    const domains = test.services.domains;
    const url = 'smpp://school:hidden-word@127.0.0.1:9';
    await domains.setProperty(test.as('admin'), { name: 'smsUrl', value: url, isSecret: true });
    try {
      const { id } = await send('nowhere');
      const message = await test.until(id, 'failed');
      expect(message.lastError).toMatch(
        /^given up after 3 attempts: the SMS centre cannot be reached: .*ECONNREFUSED/,
      );
      expect(test.gateway.log.join('')).not.toContain('hidden-word');
    } finally {
      await domains.setProperty(test.as('admin'), { name: 'smsUrl', value: undefined });
    }
  });

  it('waits when the centre refuses the login', async () => {
    const domains = test.services.domains;
    const url = centre.url.replace('secret', 'hidden-word');
    await domains.setProperty(test.as('admin'), { name: 'smsUrl', value: url, isSecret: true });
    try {
      const { id } = await send('who are you');
      const message = await test.until(id, 'failed');
      expect(message.lastError).toContain('refused the login: ESME_RBINDFAIL');
      expect(test.gateway.log.join('')).not.toContain('hidden-word');
    } finally {
      await domains.setProperty(test.as('admin'), { name: 'smsUrl', value: undefined });
    }
  });
});
