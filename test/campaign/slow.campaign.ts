/**
 * Slow and greedy clients: floods of large bodies without a credential, readers that take a little, senders
 * that never end.
 */
import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Random } from '../../src/school/demo/random.js';
import { useGateway } from '../contract/gateway.js';
import { campaign } from './campaign.js';

const gateway = useGateway({ POOL_SIZE: '8', STREAM_STALL_MS: '2000' });
const sockets = new Set<net.Socket>();

const GREEDY = ['viewer', 'clerk', 'teacher'] as const;
const PATHS = ['/auth', '/graphql', '/o/task', '/x/none', '/none', '/o/recs/task'] as const;
const READS_A_ROUND = 12;

beforeAll(async () => {
  await gateway.sql.query(
    `insert into records (domain, collection, id, data)
     select 'top', 'attendance', 'a' || n, jsonb_build_object('class', '5', 'section', 'A',
       'remark', repeat('r', 400))
     from generate_series(1, 60000) as n`,
  );
}, 60_000);

afterAll(endAll);

describe('slow and greedy clients', () => {
  campaign('keep nobody else from short and long reads', async ({ random, count }) => {
    try {
      for (let index = 0; index < 18; index++) await behaveBadly(random, count);
      for (let index = 0; index < READS_A_ROUND; index++) {
        await Promise.all([behaveBadly(random, count), readAsUsual(count)]);
      }
    } finally {
      await endAll();
    }
  });
});

async function behaveBadly(random: Random, count: (figure: string) => void): Promise<void> {
  const kind = random.pick(['flood', 'reader', 'sender', 'large sender'] as const);
  count(`${kind}s`);
  if (kind === 'flood') await flood(random);
  else if (kind === 'sender') await sendWithoutEnd(random);
  else if (kind === 'large sender') await sendLargeSlowly(random);
  else await readSlowly(random);
}

/** Refused without a credential, whatever it is and wherever it goes. */
async function flood(random: Random): Promise<void> {
  const members = Array.from({ length: random.integer(20_000, 60_000) }, (_, index) => `k${index}`);
  const isForm = random.pick([true, false]);
  const answer = await fetch(gateway.url + random.pick(PATHS), {
    method: 'POST',
    headers: { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
    body: isForm ? members.join('=0&') : JSON.stringify(Object.fromEntries(members.map((name) => [name, 0]))),
  });
  await answer.text();
  expect([401, 404, 413, 415]).toContain(answer.status);
}

async function sendWithoutEnd(random: Random): Promise<void> {
  const socket = await connect();
  socket.write(
    `POST ${random.pick(PATHS)} HTTP/1.1\r\nhost: a\r\ncontent-type: ` +
      `application/json\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
  );
  socket.resume();
}

/** Announces a large body with a credential, and sends little of it, ever more slowly. */
async function sendLargeSlowly(random: Random): Promise<void> {
  const socket = await connect();
  const token = gateway.tokenOf(random.pick(GREEDY));
  const length = random.pick(['content-length: 8000000', 'transfer-encoding: chunked'] as const);
  const begun = ' '.repeat(random.pick([1, 60_000, 200_000] as const));
  const write = (text: string) =>
    socket.write(length.startsWith('t') ? `${text.length.toString(16)}\r\n${text}\r\n` : text);
  socket.write(
    `POST ${random.pick(['/o/task', '/graphql'] as const)} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ` +
      `${token}\r\ncontent-type: application/json\r\n${length}\r\n\r\n`,
  );
  write(begun);
  socket.resume();
  const timer = setInterval(() => write('  '), random.integer(200, 1900));
  socket.once('close', () => clearInterval(timer));
}

/** Takes a little now and then of a stream. */
async function readSlowly(random: Random): Promise<void> {
  const socket = await connect();
  const token = gateway.tokenOf(random.pick(GREEDY));
  socket.write(
    `GET /o/recs/attendance?stream=true HTTP/1.${random.pick([0, 1])}\r\nhost: a\r\nauthorization: ` +
      `Bearer ${token}\r\n\r\n`,
  );
  socket.on('data', () => socket.pause());
  const timer = setInterval(() => socket.resume(), random.integer(200, 1900));
  socket.once('close', () => clearInterval(timer));
}

async function readAsUsual(count: (figure: string) => void): Promise<void> {
  for (const path of [
    '/o/recs/attendance?limit=1',
    '/?report=teachers',
    '/o/recs/attendance?stream=true',
    '/readyz',
  ]) {
    const answer = await gateway.fetch(path, { as: 'admin' });
    const text = await answer.text();
    expect({ path, status: answer.status, text: answer.status === 200 ? '' : text }).toEqual({
      path,
      status: 200,
      text: '',
    });
    count('reads of others');
  }
  const written = await gateway.fetch('/o/task', {
    method: 'POST',
    as: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'large' }) + ' '.repeat(200_000),
  });
  await written.text();
  expect(written.status).toBe(201);
  count('large bodies of others');
}

async function connect(): Promise<net.Socket> {
  const { port, hostname } = new URL(gateway.url);
  const socket = net.connect(Number(port), hostname);
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.once('close', () => sockets.delete(socket));
  await once(socket, 'connect');
  return socket;
}

async function endAll(): Promise<void> {
  const ends = [...sockets].map((socket) => once(socket, 'close'));
  for (const socket of sockets) socket.destroy();
  await Promise.all(ends);
}
