/**
 * A flood, in a process of its own so that its work delays nobody else's measurements: sends one kind of
 * request or message over some sockets, as fast as they take it, until it is ended. Its only argument is a
 * `Flood` as JSON.
 */
import { randomBytes } from 'node:crypto';
import net from 'node:net';

export interface Flood {
  readonly url: string;
  readonly kind: FloodKind;
  readonly sockets: number;
  readonly method: string;
  readonly path: string;
  /** The value of `Authorization`; absent: anonymous. */
  readonly authorization?: string;
}

export const FLOOD_KINDS = [
  'pipelined requests',
  'pipelined requests, answers unread',
  'pipelined requests without a host',
  'requests, one after the other',
  'requests, each on a new connection',
  'long addresses',
  'unreadable addresses',
  'half a head, slowly',
  'ping frames',
  'pong frames',
  'fragments',
  'ping messages',
  'subscriptions',
  'garbage messages',
  'large messages',
  'silent WebSockets',
] as const;
type FloodKind = (typeof FLOOD_KINDS)[number];

const CHUNK_BYTES = 65_536;
/** A flood begins again at once when its connection is closed, but not in the same turn. */
const AGAIN_MS = 5;
const MASK = Buffer.from([1, 2, 3, 4]);

interface Behaviour {
  /** Sent first. */
  readonly greeting?: string | Buffer;
  /** Waits for this many bytes of an answer after the greeting. */
  readonly waitsForAnswer?: boolean;
  /** Sent again and again; absent: nothing more. */
  readonly repeated?: Buffer;
  /** Between two of them; absent: as fast as the socket takes them. */
  readonly everyMs?: number;
  readonly readsAnswers?: boolean;
}

function behaviourOf(flood: Flood): Behaviour {
  const { kind, method, path } = flood;
  const request = head(flood, `${method} ${path} HTTP/1.1`);
  const readsAnswers = true;
  switch (kind) {
    case 'pipelined requests':
      return { repeated: filled(request), readsAnswers };
    case 'pipelined requests, answers unread':
      return { repeated: filled(request) };
    case 'pipelined requests without a host':
      return { repeated: filled(`${method} ${path} HTTP/1.1\r\n\r\n`), readsAnswers };
    case 'requests, one after the other':
      return { greeting: request, waitsForAnswer: true, repeated: Buffer.from(request), readsAnswers };
    case 'requests, each on a new connection':
      return { greeting: request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'), readsAnswers };
    case 'long addresses':
      return {
        repeated: Buffer.from(head(flood, `${method} /x?q=${'a+@'.repeat(5_000)} HTTP/1.1`)),
        readsAnswers,
      };
    case 'unreadable addresses':
      return { repeated: filled(head(flood, `${method} /%ff%zz HTTP/1.1`)), readsAnswers };
    case 'half a head, slowly':
      return { greeting: request.slice(0, -2), repeated: Buffer.from('a: b\r\n'), everyMs: 200 };
    default:
      return { greeting: upgrade(flood), waitsForAnswer: true, readsAnswers, ...messagesOf(flood) };
  }
}

function messagesOf({ kind, authorization }: Flood): Behaviour {
  const init = text({ type: 'connection_init', payload: { authorization } });
  const afterInit = (message: Buffer) =>
    authorization === undefined ? filled(message) : Buffer.concat([init, filled(message)]);
  switch (kind) {
    case 'ping frames':
      return { repeated: filled(frame(0x89, Buffer.alloc(0))) };
    case 'pong frames':
      return { repeated: filled(frame(0x8a, Buffer.alloc(0))) };
    case 'fragments':
      return {
        repeated: Buffer.concat([frame(0x01, Buffer.from('{')), filled(frame(0x00, Buffer.alloc(0)))]),
      };
    case 'ping messages':
      return { repeated: afterInit(text({ type: 'ping' })) };
    case 'subscriptions':
      return {
        repeated: afterInit(
          text({ id: '1', type: 'subscribe', payload: { query: 'subscription { taskChanged { id } }' } }),
        ),
      };
    case 'garbage messages':
      return { repeated: afterInit(frame(0x81, Buffer.from('{'))) };
    case 'large messages':
      return { repeated: frame(0x81, Buffer.alloc(8_000_000, 'x')) };
    default:
      return {};
  }
}

function head({ url, authorization }: Pick<Flood, 'url' | 'authorization'>, line: string): string {
  const credential = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`;
  return `${line}\r\nHost: ${new URL(url).host}\r\n${credential}\r\n`;
}

function upgrade(flood: Flood): string {
  const offer =
    'GET /graphql HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Protocol: graphql-transport-ws\r\n' +
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;
  return head({ url: flood.url }, offer);
}

/** A frame of a WebSocket's client (RFC 6455, 5.2). */
function frame(firstByte: number, payload: Buffer): Buffer {
  const size = sizeOf(payload.length);
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0)));
  return Buffer.concat([Buffer.from([firstByte]), size, MASK, masked]);
}

function sizeOf(length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | length]);
  if (length < 65_536) return Buffer.from([0x80 | 126, length >> 8, length & 0xff]);
  const size = Buffer.alloc(9);
  size[0] = 0x80 | 127;
  size.writeBigUInt64BE(BigInt(length), 1);
  return size;
}

function text(message: object): Buffer {
  return frame(0x81, Buffer.from(JSON.stringify(message)));
}

function filled(message: string | Buffer): Buffer {
  const bytes = Buffer.from(message);
  return Buffer.concat(Array(Math.ceil(CHUNK_BYTES / bytes.length)).fill(bytes));
}

function start(flood: Flood, behaviour: Behaviour): void {
  const { hostname, port } = new URL(flood.url);
  const { greeting, waitsForAnswer, repeated, everyMs, readsAnswers } = behaviour;
  const socket = net.connect(Number(port), hostname);
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    if (repeated === undefined || socket.destroyed) return;
    if (everyMs !== undefined) {
      timer = setInterval(() => socket.write(repeated), everyMs);
    } else if (flood.kind === 'requests, one after the other') socket.write(repeated);
    else {
      while (!socket.writableNeedDrain && socket.writable) socket.write(repeated);
      socket.once('drain', send);
    }
  };
  socket.on('error', () => undefined);
  socket.once('close', () => {
    clearInterval(timer);
    setTimeout(() => start(flood, behaviour), AGAIN_MS);
  });
  socket.once('connect', () => {
    if (greeting !== undefined) socket.write(greeting);
    if (!waitsForAnswer) send();
  });
  if (readsAnswers) {
    let isGreeted = false;
    socket.on('data', () => {
      if (waitsForAnswer && (!isGreeted || flood.kind === 'requests, one after the other')) send();
      isGreeted = true;
    });
  }
}

const [, , sent] = process.argv;
if (sent?.startsWith('{')) {
  const flood = JSON.parse(sent) as Flood;
  for (let index = 0; index < flood.sockets; index++) start(flood, behaviourOf(flood));
}
