/** A start whose port another program has. */
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../free-port.js';
import { useCampus } from './use-campus.js';

const campus = useCampus();

let server: Server;
let taken: string;
let folder: string;

beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  taken = String((server.address() as AddressInfo).port);
  folder = await mkdtemp(path.join(tmpdir(), 'campus-port-'));
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

describe('a start whose port is taken', () => {
  it.each([
    ['PORT', '1', () => ({ PORT: taken })],
    ['PORT', '2', () => ({ PORT: taken })],
    ['METRICS_PORT', '1', async () => ({ PORT: String(await freePort()), METRICS_PORT: taken })],
  ])('as %s (WORKERS=%s) says so before it makes a database', async (setting, WORKERS, settings) => {
    const environment = { ...(await settings()), WORKERS, DATA_DIRECTORY: folder, HOST: '127.0.0.1' };
    expect(await campus(['start'], { environment })).toEqual({
      code: 1,
      output: '',
      errors:
        `campus: Port ${taken} of 127.0.0.1 is taken by another program; ` +
        `${setting} and HOST name another address.\n`,
    });
    expect(await readdir(folder)).toEqual([]);
  });
});
