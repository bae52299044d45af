import { describe, expect, it } from '@jest/globals';
import { useHttpServer } from '../requests/http-server.js';
import { usePlatform } from './platform.js';

let failures = 0;
const bank = useHttpServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://bank.example');
  switch (url.pathname) {
    case '/json':
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"amount": 1200.50, "id": 12345678901234567890}');
      return;
    case '/problem':
      response.writeHead(422, { 'content-type': 'application/problem+json' }).end('{"detail": "no"}');
      return;
    case '/not-json':
      response.writeHead(200, { 'content-type': 'application/json' }).end('<html>');
      return;
    case '/shaky':
      failures += 1;
      if (failures % 3 === 0) response.end('at last');
      else response.writeHead(503, { 'retry-after': '0' }).end();
      return;
    case '/down':
      failures += 1;
      response.writeHead(502).end('down');
      return;
    case '/latin':
      response
        .writeHead(200, {
          'content-type': 'text/plain; charset="iso-8859-1"',
          'set-cookie': ['a=1; Expires=Sat, 28 Nov 2026 10:00:00 GMT', 'b=2'],
        })
        .end(Buffer.from('café', 'latin1'));
      return;
    case '/bytes':
      response.end(Buffer.from([0, 255, 1]));
      return;
    case '/silent':
      return;
    default:
      response.end('hello');
  }
});

const test = usePlatform(() => ({
  SCRIPT_REQUEST_PRIVATE_HOSTS: `127.0.0.1:${bank.port}`,
  SCRIPT_REQUESTS: '8',
  SCRIPT_REQUEST_TIMEOUT_MS: '2000',
}));

const value = async (code: string) => await test.value('viewer', code.replaceAll('BANK', bank.url));
const refusal = async (code: string) => (await test.run('viewer', code.replaceAll('BANK', bank.url))).error;
const last = () => bank.seen.at(-1);

describe('platform.request', () => {
  it('reads a text by the charset of the answer, and gives each cookie by itself', async () => {
    const code =
      'const { body, headers } = platform.request("BANK/latin"); ' +
      'export default [body, headers["set-cookie"]];';
    expect(await value(code)).toEqual(['café', ['a=1; Expires=Sat, 28 Nov 2026 10:00:00 GMT', 'b=2']]);
  });

  it('gives status, headers and body, read as JSON where it is', async () => {
    expect(await value('export default platform.request("BANK/json");')).toMatchObject({
      status: 200,
      ok: true,
      url: `${bank.url}/json`,
      headers: { 'content-type': 'application/json' },
      body: { amount: 1200.5 },
    });
    expect(await value('export default platform.request("BANK/problem");')).toMatchObject({
      status: 422,
      ok: false,
      body: { detail: 'no' },
    });
    expect(await value('export default platform.request("BANK/").body;')).toBe('hello');
    expect(await value('export default platform.request("BANK/not-json").body;')).toBe('<html>');
    expect(await value('export default platform.request("BANK/bytes", { answer: "base64" }).body;')).toBe(
      'AP8B',
    );
    expect(await value('export default platform.request("BANK/json", { answer: "text" }).body.length;')).toBe(
      47,
    );
  });

  it('sends query and headers', async () => {
    await value(
      'platform.request("BANK/x?a=1", { query: { b: "ä &", c: [1, 2], d: true }, headers: { ' +
        'Authorization: "Bearer x", "X-Count": 3 } });',
    );
    expect(last()).toMatchObject({
      method: 'GET',
      url: '/x?a=1&b=%C3%A4+%26&c=1&c=2&d=true',
      headers: { authorization: 'Bearer x', 'x-count': '3' },
    });
  });

  it.each(['POST', 'PUT', 'DELETE'])('sends JSON by %s', async (method) => {
    await value(`platform.request("BANK/x", { method: "${method}", json: { a: [1, null, "ä"] } });`);
    expect(last()).toMatchObject({
      method,
      headers: { 'content-type': 'application/json' },
      body: '{"a":[1,null,"ä"]}',
    });
  });

  it('sends a form, and text of any type', async () => {
    await value('platform.request("BANK/x", { method: "POST", form: { a: "1 2", b: ["x", "y"] } });');
    expect(last()).toMatchObject({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=1+2&b=x&b=y',
    });
    await value(
      'platform.request("BANK/x", { method: "POST", body: "<a/>", headers: { "content-type": ' +
        '"text/xml" } });',
    );
    expect(last()).toMatchObject({ headers: { 'content-type': 'text/xml' }, body: '<a/>' });
  });

  it('tries again as often as it is told, where that may help', async () => {
    failures = 0;
    expect(await value('export default platform.request("BANK/shaky", { retries: 3 }).body;')).toBe(
      'at last',
    );
    expect(failures).toBe(3);
    failures = 0;
    expect(await value('export default platform.request("BANK/down", { retries: 1 }).status;')).toBe(502);
    expect(failures).toBe(2);
    failures = 0;
    expect(await value('export default platform.request("BANK/down").status;')).toBe(502);
    expect(failures).toBe(1);
  });

  it('waits as long as it is told and the settings allow', async () => {
    expect(await refusal('platform.request("BANK/silent", { timeoutMs: 150 });')).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('within 150 ms'),
    });
    expect(await refusal('platform.request("BANK/silent", { timeoutMs: 60000 });')).toMatchObject({
      message: expect.stringContaining('within 2000 ms'),
    });
  });

  it('may be called so often in a run', async () => {
    expect(await refusal('for (let i = 0; i < 10000; i++) platform.request("BANK/x");')).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: 'a run calls platform.request at most 8 times',
    });
  });

  it.each([
    ['an address inside', 'platform.request("http://127.0.0.1:5432/")', 'FORBIDDEN'],
    ['the metadata of a cloud', 'platform.request("http://169.254.169.254/latest/meta-data/")', 'FORBIDDEN'],
    ['the gateway by its name', 'platform.request("http://localhost/")', 'FORBIDDEN'],
    ['a file', 'platform.request("file:///etc/passwd")', 'FORBIDDEN'],
    ['what is no URL', 'platform.request("bank")', 'INVALID_VALUE'],
    ['nothing', 'platform.request()', 'INVALID_VALUE'],
    ['another method', 'platform.request("BANK/x", { method: "TRACE" })', 'INVALID_VALUE'],
    ['an option that is none', 'platform.request("BANK/x", { methd: "POST" })', 'INVALID_VALUE'],
    ['two bodies', 'platform.request("BANK/x", { method: "POST", json: 1, body: "x" })', 'INVALID_VALUE'],
    ['a GET with a body', 'platform.request("BANK/x", { json: 1 })', 'INVALID_VALUE'],
    [
      'a header with a line break',
      'platform.request("BANK/x", { headers: { a: "x\\r\\nhost: y" } })',
      'INVALID_VALUE',
    ],
    ['a header that is none', 'platform.request("BANK/x", { headers: { "a b": "x" } })', 'INVALID_VALUE'],
    ['the host header', 'platform.request("BANK/x", { headers: { Host: "inside" } })', 'INVALID_VALUE'],
    [
      'a length of its own',
      'platform.request("BANK/x", { headers: { "Content-Length": 1 } })',
      'INVALID_VALUE',
    ],
    ['JSON that is none', 'platform.request("BANK/x", { answer: "json" })', 'INVALID_VALUE'],
    ['too many retries', 'platform.request("BANK/x", { retries: 100 })', 'INVALID_VALUE'],
  ])('refuses %s', async (_name, code, expected) => {
    expect(await refusal(code)).toMatchObject({ code: expected });
  });
});
