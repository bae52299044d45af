/**
 * Row values as the bytes Postgres sent, for queries that pass them on: node-postgres converts them to
 * strings first, which costs more than everything else in a long answer.
 */
import type pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';

/** A query that receives bytes. It must copy them, because the next read overwrites the buffer. */
export interface ByteRowReader {
  readonly takesBytes: boolean;
}

/** Members of node-postgres 8 and its protocol that are missing from their type declarations. */
interface ActiveClient {
  readonly _activeQuery: Partial<ByteRowReader> | null | undefined;
}
interface ListeningConnection {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(name: string, message: object): void;
}
interface PacketParser {
  parse(bytes: Buffer, onMessage: (message: { readonly name: string }) => void): void;
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): object;
}

const DATA_ROW = 'D'.charCodeAt(0);

/** Call it before the client connects. */
export function useByteRows(client: pg.ClientBase): void {
  const connection = (client as unknown as { readonly connection: ListeningConnection }).connection;
  const active = client as unknown as ActiveClient;
  connection.attachListeners = (stream) => {
    const parser = new Parser() as unknown as PacketParser;
    const readPacket = parser.handlePacket.bind(parser);
    parser.handlePacket = (offset, code, length, bytes) =>
      code === DATA_ROW && active._activeQuery?.takesBytes === true
        ? { name: 'dataRow', length, fields: readFields(bytes, offset) }
        : readPacket(offset, code, length, bytes);
    stream.on('data', (bytes: Buffer) =>
      parser.parse(bytes, (message) =>
        connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message),
      ),
    );
  };
}

/**
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-DATAROW
 */
function readFields(bytes: Buffer, start: number): readonly (Buffer | null)[] {
  const count = bytes.readInt16BE(start);
  const fields: (Buffer | null)[] = [];
  let offset = start + 2;
  for (let field = 0; field < count; field++) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    if (length < 0) {
      fields.push(null);
      continue;
    }
    fields.push(bytes.subarray(offset, offset + length));
    offset += length;
  }
  return fields;
}
