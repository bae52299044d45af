import { expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { toProxyTrust } from '../../../src/base/http/trusted-proxies.js';
import { parseConfig } from '../../../src/gateway/config/config.js';

it.each([
  ['one proxy, whatever the sender wrote', 'true', '2.2.2.2', 'https'],
  ['two proxies', '2', '1.1.1.1', 'https'],
  ['proxies at these addresses', '127.0.0.1,2.2.2.2', '1.1.1.1', 'https'],
  ['proxies elsewhere', '10.0.0.0/8', '127.0.0.1', 'http'],
  ['none', 'false', '127.0.0.1', 'http'],
])('the address of a caller is found behind %s', async (_proxies, text, ip, protocol) => {
  const app = fastify({ trustProxy: toProxyTrust(parseConfig({ TRUST_PROXY: text }).trustProxy) });
  app.get('/', (request) => ({ ip: request.ip, protocol: request.protocol }));
  const headers = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2', 'x-forwarded-proto': 'https' };
  expect((await app.inject({ url: '/', headers })).json()).toEqual({ ip, protocol });
});
