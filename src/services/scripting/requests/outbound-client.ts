/** HTTP requests of scripts and webhooks: guarded, limited, and with the same rules for redirects. */

import type { LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, inflate, type ZlibOptions } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import type { Agent, Dispatcher } from 'undici';
import { ServiceError } from '../../../base/errors.js';
import { getOrMake } from '../../../base/process/get-or-make.js';
import { traceHeaders } from '../../../base/process/traced.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface OutboundRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly redirects: 'follow' | 'return';
  readonly signal: AbortSignal;
}

export interface OutboundAnswer {
  /** The final address, after redirects. */
  readonly url: URL;
  readonly status: number;
  /** By lower-case name; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The values of `set-cookie`, which may hold commas. */
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

export interface OutboundLimits {
  readonly maxResponseBytes: number;
  /** Other ports are refused, except for hosts allowed with their port. */
  readonly ports: readonly number[];
  /** `host` or `host:port` that may have a non-public address. */
  readonly privateHosts: readonly string[];
}

/** Resolves a name to all its addresses, like `dns.promises.lookup` with `all`. */
export type ResolveName = Parameters<typeof createPublicLookup>[0];

const MOST_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that must not be sent to another host. */
const OF_ONE_HOST: readonly string[] = ['authorization', 'cookie', 'proxy-authorization'];
const OF_A_BODY: readonly string[] = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
];
const CONNECTIONS_OF_A_HOST = 10;
const MOST_HEADER_BYTES = 32 * 1024;

/** Which addresses a host may have. */
type Reach = 'public' | 'private';

export class OutboundClient {
  readonly #limits: OutboundLimits;
  readonly #resolveName: ResolveName | undefined;
  readonly #agents = new Map<Reach, Agent>();
  #isClosed = false;

  /** `resolveName`: the system's by default. */
  constructor(limits: OutboundLimits, resolveName?: ResolveName) {
    this.#limits = limits;
    this.#resolveName = resolveName;
  }

  /**
   * Sends a request and reads the whole answer, whatever its status.
   *
   * @throws FORBIDDEN for an address, port or scheme that is not allowed, also in a redirect; LIMIT_EXCEEDED
   *   for an answer that is too large, compressed or not, and for too many redirects; UNAVAILABLE if there is
   *   no answer
   */
  async send(request: OutboundRequest): Promise<OutboundAnswer> {
    const deadline = AbortSignal.timeout(request.timeoutMs);
    const signal = AbortSignal.any([request.signal, deadline]);
    let next: OutboundRequest = { ...request, signal };
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#sendOnce(next);
      const location = request.redirects === 'follow' ? answer.headers.location : undefined;
      if (location === undefined || !REDIRECTS.has(answer.status)) return answer;
      if (redirects === MOST_REDIRECTS) {
        throw new ServiceError(
          'LIMIT_EXCEEDED',
          `${request.url.host} led through more than ${MOST_REDIRECTS} redirects`,
        );
      }
      next = redirected(next, answer.status, location);
    }
  }

  /** @throws FORBIDDEN as `send` does for this address; its name is resolved only when a request is sent */
  assertAllowed(url: URL): void {
    this.#reachOf(url);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  async #sendOnce(request: OutboundRequest): Promise<OutboundAnswer> {
    const { url, method, headers, body, signal } = request;
    const reach = this.#reachOf(url);
    try {
      // Loaded with the first request: few gateways have scripts that send one. It is CommonJS, of which the
      // bundle (cli/bundle-program.ts) has the default export alone.
      const { default: undici } = await import('undici');
      const answer = await undici.request(url, {
        dispatcher: this.#agentFor(reach, undici),
        method,
        headers: {
          ...{ 'user-agent': 'campus-gateway', 'accept-encoding': 'gzip, deflate, br' },
          ...traceHeaders(),
          ...headers,
        },
        signal,
        headersTimeout: request.timeoutMs,
        bodyTimeout: request.timeoutMs,
        ...(body !== undefined && { body }),
      });
      const received = await this.#readBody(answer, url);
      const cookies = [answer.headers['set-cookie'] ?? []].flat();
      const headersReceived = plainHeaders(answer.headers);
      return { url, status: answer.statusCode, headers: headersReceived, cookies, body: received };
    } catch (error) {
      throw this.#toServiceError(error, request);
    }
  }

  #agentFor(reach: Reach, undici: Pick<typeof import('undici'), 'Agent'>): Agent {
    return getOrMake(this.#agents, reach, () => {
      const agent = new undici.Agent({
        connections: CONNECTIONS_OF_A_HOST,
        maxHeaderSize: MOST_HEADER_BYTES,
        maxResponseSize: this.#limits.maxResponseBytes,
        ...(reach === 'public' && { connect: { lookup: createPublicLookup(this.#resolveName) } }),
      });
      // Later requests then fail like those on a lost connection.
      if (this.#isClosed) void agent.destroy();
      return agent;
    });
  }

  #reachOf(url: URL): Reach {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new ServiceError(
        'FORBIDDEN',
        `Scripts and webhooks may request http and https, not ${url.protocol.slice(0, -1)}.`,
      );
    }
    if (url.username !== '' || url.password !== '') {
      throw new ServiceError(
        'FORBIDDEN',
        'user name and password do not belong into a URL; send an authorization header',
      );
    }
    const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
    const { privateHosts, ports } = this.#limits;
    if (privateHosts.includes(`${url.hostname}:${port}`)) return 'private';
    if (!ports.includes(port)) {
      throw new ServiceError(
        'FORBIDDEN',
        `Scripts and webhooks may not reach port ${port}; allowed: ${ports.join(', ')} ` +
          '(SCRIPT_REQUEST_PORTS).',
      );
    }
    if (privateHosts.includes(url.hostname)) return 'private';
    assertPublicHost(url.hostname);
    return 'public';
  }

  async #readBody(answer: Dispatcher.ResponseData, url: URL): Promise<Buffer> {
    const { maxResponseBytes } = this.#limits;
    const body = Buffer.from(await answer.body.arrayBuffer());
    const unpack = UNPACKERS.get(String(answer.headers['content-encoding']).trim().toLowerCase());
    if (unpack === undefined || body.length === 0) return body;
    return await unpack(body, { maxOutputLength: maxResponseBytes }).catch((cause: unknown) => {
      if (codeOf(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url, maxResponseBytes);
      throw new ServiceError('UNAVAILABLE', `the answer of ${url.host} cannot be unpacked`, { cause });
    });
  }

  #toServiceError(error: unknown, { url, signal, timeoutMs }: OutboundRequest): unknown {
    if (error instanceof ServiceError) return error;
    if (signal.aborted && signal.reason instanceof ServiceError) return signal.reason;
    const code = codeOf(error);
    if (code === 'UND_ERR_INVALID_ARG') return error;
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return tooLarge(url, this.#limits.maxResponseBytes);
    const isLate = signal.aborted || /TIMEOUT/i.test(code);
    const reason = isLate ? `did not answer within ${timeoutMs} ms` : `cannot be reached (${code})`;
    return new ServiceError('UNAVAILABLE', `${url.host} ${reason}`, { cause: error });
  }
}

/**
 * The request after a redirect: 303, and 301 and 302 after a POST, become a GET without a body.
 *
 * @see RFC 9110 15.4
 */
function redirected(request: OutboundRequest, status: number, location: string): OutboundRequest {
  if (!URL.canParse(location, request.url.href)) {
    throw new ServiceError('UNAVAILABLE', `${request.url.host} redirects to an invalid URL`);
  }
  const url = new URL(location, request.url);
  const turnsIntoGet = status === 303 || (status < 303 && request.method === 'POST');
  const dropped = [
    ...(url.origin === request.url.origin ? [] : OF_ONE_HOST),
    ...(turnsIntoGet ? OF_A_BODY : []),
  ];
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !dropped.includes(name)),
  );
  return { ...request, url, headers, ...(turnsIntoGet && { method: 'GET', body: undefined }) };
}

function plainHeaders(headers: Dispatcher.ResponseData['headers']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name, [value].flat().join(', ')]),
  );
}

/** Off the main thread. A few kilobytes may expand to gigabytes, so unpacking stops at the limit. */
const UNPACKERS = new Map(
  Object.entries({ gzip: gunzip, 'x-gzip': gunzip, deflate: inflate, br: brotliDecompress }).map(
    ([encoding, unpack]) => [encoding, promisify<InputType, ZlibOptions, Buffer>(unpack)],
  ),
);

/** `ECONNREFUSED`, `UND_ERR_HEADERS_TIMEOUT`, …, or the kind of error. */
function codeOf(error: unknown): string {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  return String(typeof code === 'string' ? code : name);
}

function tooLarge(url: URL, maxBytes: number): ServiceError {
  return new ServiceError(
    'LIMIT_EXCEEDED',
    `the answer of ${url.host} is larger than ${maxBytes.toLocaleString('en')} bytes ` +
      '(SCRIPT_REQUEST_MAX_RESPONSE_BYTES)',
  );
}

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
function createPublicLookup(resolveName: typeof resolveAll = resolveAll): LookupFunction {
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

/** These names always mean the machine itself (RFC 6761). */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;

/**
 * Refuses a host written as a non-public address, which is not resolved. The URL parser has already
 * normalized `0x7f.1` and `2130706433` to `127.0.0.1`.
 */
export function assertPublicHost(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  const isHidden = isIP(address) !== 0 ? !isPublicAddress(address) : LOCAL_NAME.test(address);
  if (isHidden) throw refusedAddress(hostname);
}

/** The error does not name the address, so that scripts cannot explore the internal network. */
function refusedAddress(hostname: string): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `Scripts and webhooks may not reach ${hostname}: its address is not one of the public internet. ` +
      'An operator allows it by SCRIPT_REQUEST_PRIVATE_HOSTS.',
  );
}
