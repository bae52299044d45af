import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { ServiceError } from '../../../../src/base/errors.js';
import { sendBuiltFile } from '../../../../src/gateway/server/sending/send-built-file.js';

const CONTENT = 'campus '.repeat(2_000_000);

describe('a file that was built with the package', () => {
  let app: FastifyInstance;
  let directory: string;
  let url: string;
  /** What the handler was told, request by request. */
  const outcomes: string[] = [];
  const errors: unknown[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'campus-prebuilt-'));
    await writeFile(path.join(directory, 'page.js'), CONTENT);
    await writeFile(path.join(directory, 'page.js.gz'), 'compressed');
    app = Fastify();
    app.addHook('onError', async (_request, _reply, error) => {
      errors.push(error);
    });
    app.route<{ Params: { name: string } }>({
      method: ['GET', 'HEAD'],
      url: '/:name',
      handler: async (request, reply) => {
        const missing = new ServiceError('NOT_FOUND', 'gone');
        const file = { directory, name: request.params.name, etag: '"1"', isImmutable: true, missing };
        try {
          await sendBuiltFile(request, reply, file);
        } catch (error) {
          outcomes.push(String(error));
          return reply.code(404).send();
        }
        outcomes.push('sending');
        return reply;
      },
    });
    url = await app.listen({ port: 0 });
  });

  afterAll(async () => {
    await app.close();
    await rm(directory, { recursive: true });
  });

  it('is sent whole, and compressed to who takes that', async () => {
    const plain = await fetch(`${url}/page.js`, { headers: { 'accept-encoding': 'identity' } });
    expect(await plain.text()).toBe(CONTENT);
    const compressed = await fetch(`${url}/page.js`, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
  });

  it('is missing, with nothing sent, where there is none', async () => {
    const answer = await fetch(`${url}/other.js`);
    expect(answer.status).toBe(404);
    expect(outcomes.at(-1)).toContain('gone');
  });

  it('is nobody’s fault when its reader goes away in the middle', async () => {
    const before = outcomes.length;
    await new Promise<void>((resolve, reject) => {
      const request = http.get(`${url}/page.js`, { headers: { 'accept-encoding': 'identity' } }, (answer) => {
        answer.once('data', () => {
          answer.destroy();
          resolve();
        });
      });
      request.once('error', reject);
    });
    // The next answer comes after what the first one left behind.
    const next = await fetch(`${url}/page.js`, { headers: { 'accept-encoding': 'identity' } });
    expect(await next.text()).toBe(CONTENT);
    expect(outcomes.slice(before)).toEqual(['sending', 'sending']);
    expect(errors).toEqual([]);
  });
});
