import { expect, it } from '@jest/globals';
import { useGateway } from './gateway.js';

const FORWARDED = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2', 'x-forwarded-proto': 'https' };

const gateway = useGateway({ LOG_LEVEL: 'info', TRUST_PROXY: 'true' });

it('the address in the log is the one behind the proxy', async () => {
  const response = await gateway.fetch('/healthz', { headers: FORWARDED });
  const id = response.headers.get('x-request-id');
  await response.text();
  const line = gateway.log.map((text) => JSON.parse(text)).find(({ requestId }) => requestId === id);
  expect(line).toMatchObject({ address: '2.2.2.2' });
});

it('Strict-Transport-Security is said over TLS alone', async () => {
  const overTls = await gateway.fetch('/healthz', { headers: FORWARDED });
  expect(overTls.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  const plain = await gateway.fetch('/healthz');
  expect(plain.headers.get('strict-transport-security')).toBe(null);
});
