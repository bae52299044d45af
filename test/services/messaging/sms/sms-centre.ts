/** A real SMPP server on loopback: takes what it is not told to refuse, and can send receipts. */
import type { AddressInfo } from 'node:net';
import smpp, { type Pdu, type Session } from 'smpp';

export interface SmsCentre {
  readonly url: string;
  /** Every part that was taken, in order. */
  readonly taken: Pdu[];
  readonly sessions: Set<Session>;
  logins: number;
  enquiries: number;
  /** Answers no question whether it is there. */
  isMute: boolean;
  /** The status a submitted part is answered with; `silence`: none. */
  answer: (count: number) => number | 'silence';
  /** Sends a receipt on every session. */
  deliver(providerId: string, stat: string): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function startSmsCentre(port = 0): Promise<SmsCentre> {
  let submitted = 0;
  const server = smpp.createServer((session) => {
    session.on('error', () => {});
    session.on('close', () => centre.sessions.delete(session));
    session.on('bind_transceiver', (pdu: Pdu) => {
      const isRight = pdu.system_id === 'school' && pdu.password === 'secret';
      if (isRight) centre.sessions.add(session);
      centre.logins++;
      session.send(pdu.response({ command_status: isRight ? 0 : smpp.errors.ESME_RBINDFAIL }));
    });
    session.on('submit_sm', (pdu: Pdu) => {
      const status = centre.answer(++submitted);
      if (status === 'silence') return;
      if (status === 0) centre.taken.push(pdu);
      session.send(pdu.response({ command_status: status, message_id: `M${submitted}` }));
    });
    session.on('enquire_link', (pdu: Pdu) => {
      centre.enquiries++;
      if (!centre.isMute) session.send(pdu.response());
    });
    session.on('unbind', (pdu: Pdu) => {
      session.send(pdu.response());
      session.close();
    });
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const centre: SmsCentre = {
    url: `smpp://school:secret@127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: [],
    sessions: new Set(),
    logins: 0,
    enquiries: 0,
    isMute: false,
    answer: () => 0,
    deliver(providerId, stat) {
      const text =
        `id:${providerId} sub:001 dlvrd:001 submit date:2611201030 done date:2611201031 stat:${stat} ` +
        'err:000 text:';
      for (const session of centre.sessions) {
        session.deliver_sm({
          esm_class: 4,
          short_message: text,
          source_addr: '915123456789',
          destination_addr: 'SCHOOL',
        });
      }
    },
    cut() {
      for (const session of centre.sessions) session.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        centre.cut();
        server.close(() => resolve());
      }),
  };
  return centre;
}
