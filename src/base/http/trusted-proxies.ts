/** The types of settings that name peers: proxies in front of the gateway, and the origins of pages. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { listSetting } from '../settings.js';

/** Names of address ranges that proxy-addr defines. */
const RANGE_NAMES: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);
const MOST_PROXIES = 10;

/** The proxies trusted for the caller's address: none, the nearest ones by number, or these addresses. */
export type TrustedProxies = false | number | readonly string[];

/** `trustProxy` for Fastify. Hops count from us outwards: hop 0, the nearest proxy, is trusted. */
export function toProxyTrust(trusted: TrustedProxies) {
  if (trusted === false) return false;
  return typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : [...trusted];
}

/**
 * `false`, a number of proxies, or their addresses. `true` means one proxy: trusting every address in
 * X-Forwarded-For would trust the caller, who may have written the first one.
 */
export const proxiesSetting = listSetting.transform((parts, context): TrustedProxies => {
  const [first = 'false', ...others] = parts;
  if (others.length === 0) {
    if (first === 'false' || first === '0') return false;
    if (first === 'true') return 1;
    if (/^\d+$/.test(first) && Number(first) <= MOST_PROXIES) return Number(first);
  }
  const unknown = parts.find((part) => !isRange(part));
  if (unknown === undefined) return parts;
  context.addIssue({
    code: 'custom',
    message:
      `"${unknown}" is not a proxy; expected false, the number of proxies in front (1 to ` +
      `${MOST_PROXIES}), or their addresses, e.g. 10.0.0.0/8,192.168.1.5`,
  });
  return z.NEVER;
});

/** Origins of pages, e.g. `https://portal.example`, or `*`. */
export const originsSetting = listSetting.superRefine((parts, context) => {
  for (const part of parts) {
    if (part === '*') continue;
    const right = originIn(part);
    if (right === part) continue;
    const hint = right === undefined ? 'expected e.g. https://portal.example' : `${right} would be`;
    context.addIssue({ code: 'custom', message: `"${part}" is not an origin; ${hint}` });
  }
});

function isRange(text: string): boolean {
  return RANGE_NAMES.has(text) || isIP(text) !== 0 || ipaddr.isValidCIDR(text);
}

/** The origin that was meant; without a scheme, https is assumed. */
function originIn(text: string): string | undefined {
  const hasScheme = /^https?:\/\//i.test(text);
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(text);
  const address = hasScheme ? text : `${isLocal ? 'http' : 'https'}://${text}`;
  if (!URL.canParse(address)) return undefined;
  const { origin, hostname } = new URL(address);
  return hostname === '' || origin === 'null' || /[*\s]/.test(text) ? undefined : origin;
}
