import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const FORWARDED = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2', 'x-forwarded-proto': 'https' };

const behindOne = useGateway({ LOG_LEVEL: 'info', TRUST_PROXY: 'true' });
const behindTwo = useGateway({ LOG_LEVEL: 'info', TRUST_PROXY: '2' });
const behindNamed = useGateway({ LOG_LEVEL: 'info', TRUST_PROXY: '127.0.0.1,2.2.2.2' });
const behindOthers = useGateway({ LOG_LEVEL: 'info', TRUST_PROXY: '10.0.0.0/8' });
const direct = useGateway({ LOG_LEVEL: 'info' });

describe('the address of a caller', () => {
  it.each([
    ['one proxy, whatever the sender wrote', behindOne, '2.2.2.2'],
    ['two proxies', behindTwo, '1.1.1.1'],
    ['proxies at these addresses', behindNamed, '1.1.1.1'],
    ['proxies elsewhere', behindOthers, '127.0.0.1'],
    ['none', direct, '127.0.0.1'],
  ])('is found behind %s', async (_name, gateway, address) => {
    const response = await gateway.fetch('/healthz', { headers: FORWARDED });
    const id = response.headers.get('x-request-id');
    await response.text();
    const line = gateway.log.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === id);
    expect(line).toMatchObject({ address });
  });
});

describe('Strict-Transport-Security', () => {
  it('is said over TLS alone', async () => {
    const overTls = await behindOne.fetch('/healthz', { headers: FORWARDED });
    expect(overTls.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
    const plain = await behindOne.fetch('/healthz');
    expect(plain.headers.get('strict-transport-security')).toBe(null);
  });

  it('is not said to whoever claims TLS past the proxies', async () => {
    for (const gateway of [direct, behindOthers]) {
      const response = await gateway.fetch('/healthz', { headers: FORWARDED });
      expect(response.headers.get('strict-transport-security')).toBe(null);
    }
  });
});
