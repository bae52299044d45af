import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpSmsChannel, type HttpSmsOptions } from '../../../../src/services/messaging/sms/http-channel.js';

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let asked: Asked[];
let answer: { status: number; body: string; headers?: Record<string, string> } | 'silence';
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  asked.push({ method: request.method, url: request.url, headers: request.headers, body });
  if (answer === 'silence') return;
  response.writeHead(answer.status, answer.headers).end(answer.body);
});
let base: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  asked = [];
  answer = { status: 200, body: '{"status":"ok","data":[{"id":4711}]}' };
});

afterEach(() => {
  asked = [];
  answer = { status: 200, body: '{"status":"ok","data":[{"id":4711}]}' };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const SMS = { to: '+915123456789', text: 'Fees: 100% "due" & more\nनमस्ते', template: 'fee-reminder-v3' };

async function send(options: Partial<HttpSmsOptions> = {}, signal = new AbortController().signal) {
  const channel = new HttpSmsChannel({
    url: `${base}/send`,
    smsHttpMethod: 'POST',
    smsHttpHeaders: { Authorization: 'Bearer hidden-word' },
    smsHttpBody:
      '{"to":"{{to}}","message":"{{text}}","from":"{{sender}}","dlt":"{{template}}","unicode":{{unicode}}}',
    smsHttpSuccess: /"status":"ok"/,
    smsHttpIdPath: 'data.0.id',
    sender: 'GYANVS',
    messageTimeoutMs: 30_000,
    ...options,
  });
  return await channel.send(SMS, { id: 'message-1', signal });
}

describe('a text message by HTTP', () => {
  it('goes as JSON', async () => {
    expect(await send()).toEqual({ providerId: '4711' });
    expect(asked[0]).toMatchObject({ method: 'POST', url: '/send' });
    expect(asked[0]?.headers).toMatchObject({
      authorization: 'Bearer hidden-word',
      'content-type': 'application/json',
      'idempotency-key': 'message-1',
    });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      to: '+915123456789',
      message: SMS.text,
      from: 'GYANVS',
      dlt: 'fee-reminder-v3',
      unicode: 1,
    });
  });

  it('goes as a form', async () => {
    await send({ smsHttpBody: 'to={{digits}}&text={{text}}' });
    expect(asked[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      to: '915123456789',
      text: SMS.text,
    });
  });

  it('goes in the address', async () => {
    await send({
      smsHttpMethod: 'GET',
      smsHttpBody: undefined,
      url: `${base}/send?to={{digits}}&text={{text}}&sender={{sender}}`,
    });
    const url = new URL(asked[0]?.url ?? '', base);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      to: '915123456789',
      text: SMS.text,
      sender: 'GYANVS',
    });
  });

  const refusals: [what: string, answer: typeof answer, kind: string, message: RegExp][] = [
    ['a provider out of order', { status: 503, body: 'sorry' }, 'temporary', /answered 503: sorry/],
    ['too many messages', { status: 429, body: '' }, 'temporary', /answered 429/],
    [
      'a wrong key',
      { status: 401, body: 'Bearer hidden-word is wrong' },
      'temporary',
      /answered 401: \[redacted\] is wrong/,
    ],
    [
      'a number it does not know',
      { status: 422, body: 'no such number' },
      'permanent',
      /answered 422: no such number/,
    ],
    [
      'no in a 200',
      { status: 200, body: '{"status":"error","reason":"DND"}' },
      'permanent',
      /refused the message: .*DND/,
    ],
    [
      'a way elsewhere',
      { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
      'permanent',
      /answered 302/,
    ],
    ['silence', 'silence', 'temporary', /cannot be reached/],
  ];
  for (const [what, given, kind, message] of refusals) {
    it(`is refused by ${what}`, async () => {
      answer = given;
      const options = given === 'silence' ? { messageTimeoutMs: 300 } : {};
      await expect(send(options)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
    });
  }

  it('is tried again when there is nobody', async () => {
    await expect(send({ url: 'http://127.0.0.1:9/send' })).rejects.toMatchObject({ kind: 'temporary' });
  });

  it('reads no endless answer', async () => {
    answer = { status: 200, body: `"status":"ok"${'x'.repeat(5_000_000)}` };
    expect(await send()).toEqual({ providerId: undefined });
  });
});
