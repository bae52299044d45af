import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SmppSession, type SmppSessionOptions } from '../../../../src/services/messaging/sms/smpp-session.js';
import { eventually } from '../../../eventually.js';
import { type SmsCentre, startSmsCentre } from './sms-centre.js';

let centre: SmsCentre | undefined;
let silent: Server | undefined;
const sockets = new Set<Socket>();

afterEach(async () => {
  await centre?.close();
  for (const socket of sockets) socket.destroy();
  silent?.close();
  centre = undefined;
  silent = undefined;
});

function optionsOf(url: string, more: Partial<SmppSessionOptions> = {}): SmppSessionOptions {
  const { hostname, port, username, password } = new URL(url);
  return {
    host: hostname,
    port: Number(port),
    tls: false,
    systemId: username,
    password,
    systemType: '',
    timeoutMs: 200,
    enquireMs: 50,
    onDelivered: () => {},
    onClosed: () => {},
    ...more,
  };
}

describe('a session with an SMS centre', () => {
  it('asks now and then whether the centre is there', async () => {
    centre = await startSmsCentre();
    const session = await SmppSession.bind(optionsOf(centre.url, { timeoutMs: 30_000 }));
    await eventually(() => (centre?.enquiries ?? 0) >= 3);
    expect(session.isOpen).toBe(true);
    await session.close();
    expect(session.isOpen).toBe(false);
  });

  it('ends when the centre does not respond', async () => {
    centre = await startSmsCentre();
    let isClosed = false;
    const session = await SmppSession.bind(optionsOf(centre.url, { onClosed: () => (isClosed = true) }));
    centre.isMute = true;
    await eventually(() => isClosed);
    await expect(session.ask(() => true)).rejects.toMatchObject({
      kind: 'temporary',
      message: 'the SMS centre does not respond',
    });
  });

  it('is not waited for without end where nobody speaks SMPP', async () => {
    silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent?.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(SmppSession.bind(optionsOf(`smpp://school:secret@127.0.0.1:${port}`))).rejects.toMatchObject(
      {
        kind: 'temporary',
        message: 'the SMS centre did not answer within 200 ms',
      },
    );
  });

  it('survives an answer that is no SMPP', async () => {
    silent = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(50));
    });
    await new Promise<void>((resolve) => silent?.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(SmppSession.bind(optionsOf(`smpp://school:secret@127.0.0.1:${port}`))).rejects.toMatchObject(
      {
        kind: 'temporary',
      },
    );
  });
});
