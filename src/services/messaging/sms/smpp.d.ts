/** The parts of the package in use; it has no types of its own. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events';
  import type { Server as NetServer, Socket } from 'node:net';

  export interface Pdu {
    readonly command: string;
    readonly command_status: number;
    readonly sequence_number: number;
    readonly message_id?: string;
    readonly system_id?: string;
    readonly password?: string;
    readonly source_addr?: string;
    readonly destination_addr?: string;
    readonly data_coding?: number;
    readonly esm_class?: number;
    readonly registered_delivery?: number;
    readonly short_message?: { readonly message?: Buffer | string; readonly udh?: readonly Buffer[] };
    readonly receipted_message_id?: string;
    readonly message_state?: number;
    response(fields?: object): Pdu;
  }

  export interface Session extends EventEmitter {
    readonly socket: Socket;
    send(pdu: Pdu, onResponse?: (response: Pdu) => void, onSent?: () => void): boolean;
    bind_transceiver(fields: object, onResponse: (response: Pdu) => void): boolean;
    submit_sm(fields: object, onResponse: (response: Pdu) => void): boolean;
    deliver_sm(fields: object, onResponse?: (response: Pdu) => void): boolean;
    enquire_link(onResponse: (response: Pdu) => void): boolean;
    unbind(onResponse?: (response: Pdu) => void): boolean;
    close(onClosed?: () => void): void;
    destroy(onClosed?: () => void): void;
  }

  export interface Server extends NetServer {
    readonly sessions: readonly Session[];
  }

  export interface ConnectOptions {
    readonly host: string;
    readonly port: number;
    readonly tls?: boolean;
    readonly servername?: string;
  }

  const smpp: {
    connect(options: ConnectOptions): Session;
    createServer(onSession: (session: Session) => void): Server;
    readonly errors: Readonly<Record<string, number>>;
  };
  export default smpp;
}
