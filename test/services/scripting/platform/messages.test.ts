import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../eventually.js';
import { type MailServer, startMailServer } from '../../messaging/mail-server.js';
import { usePlatform } from './platform.js';

let server: MailServer;
const test = usePlatform(() => ({ MAIL_FROM: 'office@gyan.example' }));

beforeAll(async () => {
  server = await startMailServer();
  const admin = await test.scopeOf('admin');
  await test.services.domains.setProperty(admin, { name: 'smtpUrl', value: server.url, isSecret: true });
});

afterAll(() => server.close());

describe('platform.sendEmail', () => {
  it('sends what it is given, with attachments', async () => {
    const sent = await test.value(
      'clerk',
      `export default platform.sendEmail({
         to: 'Asha <asha@example.org>', subject: 'Fees of {{name}}', html: '<b>{{name}}</b>', data: { name: 'A & B' },
         attachments: [{ name: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }],
       });`,
    );
    expect(sent).toEqual({ id: expect.any(String), state: 'queued' });
    await eventually(() => server.taken.length > 0);
    const [{ mail, to } = { mail: undefined, to: [] }] = server.taken;
    expect(to).toEqual(['asha@example.org']);
    expect(mail).toMatchObject({ subject: 'Fees of A & B', html: '<b>A &#38; B</b>' });
    expect(mail?.attachments[0]?.content.toString()).toBe('hello');
  });

  it('sends once under one key, however often the script runs', async () => {
    const code =
      `export default platform.sendEmail({ to: 'a@example.org', subject: 'Once', text: 'x', key: ` +
      `'nightly' }).id;`;
    expect(await test.value('clerk', code)).toBe(await test.value('clerk', code));
  });

  it('refuses as GraphQL does', async () => {
    const refusal = async (as: 'clerk' | 'viewer', code: string) => (await test.run(as, code)).error;
    expect(await refusal('viewer', `platform.sendEmail({ to: 'a@example.org', text: 'x' });`)).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(
      await refusal('clerk', `platform.sendEmail({ to: 'a@example.org\\nBcc: b@c.d', text: 'x' });`),
    ).toMatchObject({ code: 'INVALID_VALUE' });
    expect(
      await refusal('clerk', `platform.sendEmail({ to: 'a@example.org', text: 'x', path: '/etc/passwd' });`),
    ).toMatchObject({ code: 'INVALID_VALUE' });
    expect(await refusal('clerk', `platform.sendEmail('a@example.org');`)).toMatchObject({
      code: 'INVALID_VALUE',
    });
  });
});

describe('platform.sendSms', () => {
  it('queues a message for each number and writes it to sms_log', async () => {
    const one = await test.value(
      'clerk',
      `export default platform.sendSms({ to: '5123456789', text: 'Namaste {{name}}', data: { name: ` +
        `'Asha' }, category: 'notice' });`,
    );
    expect(one).toEqual({ id: expect.any(String), state: 'kept', to: '+915123456789' });
    const many = await test.value(
      'clerk',
      `export default platform.sendSms({ to: ['5123456701', '+915123456702'], text: 'Namaste' });`,
    );
    expect(many).toEqual([
      expect.objectContaining({ to: '+915123456701' }),
      expect.objectContaining({ to: '+915123456702' }),
    ]);
    const { id } = Object(one);
    const record = await test.services.store.get(await test.scopeOf('admin'), 'sms_log', id);
    expect(JSON.parse(record.json)).toMatchObject({
      text: 'Namaste Asha',
      status: 'queued',
      category: 'notice',
    });
  });

  it('refuses who may not write to sms_log', async () => {
    const { error } = await test.run('teacher', `platform.sendSms({ to: '5123456789', text: 'x' });`);
    expect(error).toMatchObject({ code: 'FORBIDDEN' });
  });
});
