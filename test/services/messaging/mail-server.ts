/** A real mail server on loopback: takes what it is not told to refuse, and hands out what it took. */
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface TakenMail {
  readonly from: string;
  /** Of the envelope. */
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  readonly raw: string;
  readonly mail: Awaited<ReturnType<typeof readMail>>;
}

export interface MailServer {
  readonly url: string;
  readonly taken: TakenMail[];
  /** How often somebody tried to hand over a mail. */
  attempts: number;
  /** What the server says to a recipient, or to a mail as a whole; `undefined`: yes. */
  refuseRecipient: (address: string) => { readonly code: number; readonly text: string } | undefined;
  refuseMail: (attempt: number) => { readonly code: number; readonly text: string } | 'silence' | undefined;
  close(): Promise<void>;
}

async function readMail(raw: Buffer) {
  const { text, html, attachments, ...mail } = await PostalMime.parse(raw);
  return {
    ...mail,
    text: text?.trim(),
    html: html?.trim(),
    attachments: attachments.map(({ content, ...one }) => ({
      ...one,
      content: Buffer.from(content as ArrayBuffer),
    })),
  };
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, callback) => {
      if (password === 'secret') callback(null, { user: username });
      else callback(Object.assign(new Error('Invalid login'), { responseCode: 535 }));
    },
    onRcptTo: ({ address }, _session, callback) => {
      const refusal = mailServer.refuseRecipient(address);
      callback(refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', async () => {
        const refusal = mailServer.refuseMail(++mailServer.attempts);
        if (refusal === 'silence') return;
        if (refusal) return callback(Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
        const raw = Buffer.concat(chunks);
        mailServer.taken.push({
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          to: session.envelope.rcptTo.map(({ address }) => address),
          user: session.user,
          isEncrypted: session.secure,
          raw: raw.toString('latin1'),
          mail: await readMail(raw),
        });
        callback(null, 'OK: queued as Q123');
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const mailServer: MailServer = {
    url: `smtp://school:secret@127.0.0.1:${port}`,
    taken: [],
    attempts: 0,
    refuseRecipient: () => undefined,
    refuseMail: () => undefined,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailServer;
}
