/** The addresses from which a credential may be used: single ones, and networks in CIDR notation. */
import ipaddr from 'ipaddr.js';
import { invalidAt, ServiceError } from '../../base/errors.js';

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

const MOST_ADDRESSES = 50;

export class AllowedAddresses {
  readonly #ranges: readonly Range[];

  /** Takes a list that was validated before; unreadable entries allow nothing. An empty list allows all. */
  constructor(readonly written: readonly string[]) {
    this.#ranges = written.map(rangeOf).filter((range) => range !== undefined);
  }

  /** Whether a request may come from this address. An unknown address is allowed only without a list. */
  include(address: string | undefined): boolean {
    if (this.written.length === 0) return true;
    if (address === undefined || !ipaddr.isValid(address)) return false;
    // Converts an IPv4 address that arrived over an IPv6 socket.
    const known = ipaddr.process(address);
    return this.#ranges.some(([base, bits]) => known.kind() === base.kind() && known.match(base, bits));
  }
}

/** @throws INVALID_VALUE (400) naming the malformed entries, LIMIT_EXCEEDED (400) for more than 50 */
export function parseAllowedAddresses(written: readonly string[]): readonly string[] {
  if (written.length > MOST_ADDRESSES) {
    throw new ServiceError('LIMIT_EXCEEDED', `At most ${MOST_ADDRESSES} addresses and networks are allowed.`);
  }
  const parts = [...new Set(written.map((text) => text.trim()))];
  const unknown = parts.find((text) => rangeOf(text) === undefined);
  if (unknown === undefined) return parts;
  const sent = unknown.slice(0, 100);
  const expected = 'an address or a network, e.g. 203.0.113.7 or 2001:db8::/32';
  const detail = `${JSON.stringify(sent)} is not an address; expected ${expected}.`;
  throw invalidAt(detail, { parameter: 'allowedAddresses', expected, sent });
}

/**
 * Four decimal parts, or IPv6: other notations of `inet_aton` are interpreted differently by other programs.
 */
function rangeOf(text: string): Range | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const isWritten = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  if (!isWritten || rest.length > 0 || text.includes('%')) return undefined;
  const base = ipaddr.parse(address);
  const length = base.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined)
    return [ipaddr.process(address), ipaddr.process(address).kind() === 'ipv4' ? 32 : 128];
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > length) return undefined;
  return [base, Number(bits)];
}
