/**
 * Decides which addresses a script may reach: those of the public internet, and what the operator allows by
 * name.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { ServiceError } from '../../errors.js';

/**
 * All of IPv6 that is routed on the internet; what is not unicast or maps an IPv4 address is taken out by its
 * range.
 */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/**
 * True for an address of the public internet: not private, loopback, link-local, reserved, multicast, nor a
 * tunnel to one of those.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in IPv6 clothes (::ffff:127.0.0.1) is the IPv4 address.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

/**
 * Resolves names as `net.connect` wants it, and refuses a name any of whose addresses is not public. What is
 * answered is what is connected to: a second look at the name, which might answer something else, is not
 * taken.
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
 * Refuses a host that is written as an address: nothing is resolved for it. The URL parser has made `0x7f.1`
 * and `2130706433` of it `127.0.0.1`.
 */
export function assertPublicHost(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw refusedAddress(hostname);
}

/** The error does not say which address it was: a script is not to find out what there is inside. */
function refusedAddress(hostname: string): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `a script may not reach ${hostname}: its address is not one of the public internet. An operator ` +
      'allows it by SCRIPT_REQUEST_PRIVATE_HOSTS.',
  );
}
