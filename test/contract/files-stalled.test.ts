import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../eventually.js';
import { useGateway } from './gateway.js';

const gateway = useGateway({ STREAM_STALL_MS: '3000' });

describe('a caller that stands still', () => {
  it('while it sends a file is cut, and nothing stays', async () => {
    const isCut = new Promise((resolve) => {
      const request = http.request(`${gateway.url}/files?name=slow`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.tokenOf('clerk')}`, 'content-length': '2000000' },
      });
      request.on('error', resolve);
      request.on('close', resolve);
      request.write(randomBytes(1_000_000));
    });
    await eventually(async () => (await gateway.sql.query('select 1 from files')).rows.length === 1);
    await isCut;
    await eventually(async () => (await gateway.sql.query('select 1 from files')).rows.length === 0);
  });

  it('while it reads one is cut', async () => {
    const bytes = randomBytes(30_000_000);
    const response = await gateway.fetch('/files?name=big', { method: 'POST', as: 'clerk', body: bytes });
    const { url } = (await response.json()) as { url: string };
    const length = await new Promise<number>((resolve) => {
      const request = http.get(
        gateway.url + url,
        { headers: { authorization: `Bearer ${gateway.tokenOf('clerk')}` } },
        (answer) => {
          let read = 0;
          answer.on('data', (chunk: Buffer) => {
            if (read === 0) {
              answer.pause();
              setTimeout(() => answer.resume(), 9000);
            }
            read += chunk.length;
          });
          answer.on('error', () => resolve(read));
          answer.on('close', () => resolve(read));
        },
      );
      request.on('error', () => resolve(-1));
    });
    expect(length).toBeLessThan(bytes.length);
    // The connection is free for the next: nothing of the answer is left over.
    expect((await gateway.fetch(url, { as: 'clerk', method: 'HEAD' })).status).toBe(200);
  });
});
