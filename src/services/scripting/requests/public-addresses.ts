/**
 * Decides which addresses a script may reach: those of the public internet, and those that the operator
 * allows by name.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../../base/errors.js';

/** All routed IPv6 addresses; ranges that are not unicast or map IPv4 are excluded. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * True for an address of the public internet: not private, loopback, link-local, reserved, multicast, nor a
 * tunnel to one of those.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Converts an IPv4-mapped IPv6 address (::ffff:127.0.0.1) to IPv4.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/**
 * Resolves names for `net.connect`, and refuses a name if any of its addresses is not public. The connection
 * uses these very addresses: a second look-up could return others.
 */
export function createPublicLookup(resolveName: typeof resolveAll = resolveAll): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, options.family === 4 || options.family === 6 ? options.family : 0).then(
      (found) => {
        const [first] = found;
        const hidden = found.find(({ address }) => !isPublicAddress(address));
        if (hidden !== undefined) callback(refusedAddress(hostname), '', 0);
        else if (first === undefined) callback(new Error(`${hostname} has no address`), '', 0);
        else if (options.all) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

async function resolveAll(hostname: string, family: 0 | 4 | 6): Promise<LookupAddress[]> {
  return await resolve(hostname, { all: true, family });
}

/**
 * Refuses a host written as a non-public address, which is not resolved. The URL parser has already
 * normalized `0x7f.1` and `2130706433` to `127.0.0.1`.
 */
export function assertPublicHost(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw refusedAddress(hostname);
}

/** The error does not name the address, so that scripts cannot explore the internal network. */
function refusedAddress(hostname: string): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `a script may not reach ${hostname}: its address is not one of the public internet. An operator ` +
      'allows it by SCRIPT_REQUEST_PRIVATE_HOSTS.',
  );
}
