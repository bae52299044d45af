/** Archives as `mongodump --archive` writes them. */
import { Long, serialize } from 'bson';
import { Crc64 } from '../../../../src/services/importing/mongo/mongo-dump.js';

export interface ArchiveFixture {
  readonly collections: readonly {
    readonly db: string;
    readonly collection: string;
    readonly type?: string;
    readonly documents?: readonly object[];
  }[];
  /** How many documents of a collection stand in a block, before it is another's turn. */
  readonly blockSize?: number;
}

const TERMINATOR = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const MAGIC = Buffer.from([0x6d, 0xe2, 0x99, 0x81]);

export function archiveOf({ collections, blockSize = 2 }: ArchiveFixture): Buffer {
  const header = {
    concurrent_collections: 4,
    version: '0.1',
    server_version: '7.0.5',
    tool_version: '100.9.4',
  };
  const listed = collections.map(({ db, collection, type = 'collection' }) => ({
    db,
    collection,
    metadata: '',
    size: 0,
    type,
  }));
  const left = collections
    .filter(({ type }) => type !== 'view')
    .map(({ db, collection, documents = [] }) => ({
      db,
      collection,
      documents: [...documents],
      crc: new Crc64(),
    }));
  const parts: Buffer[] = [MAGIC, ...[header, ...listed].map(bytesOf), TERMINATOR];
  while (left.length > 0) {
    for (const one of [...left]) {
      const documents = one.documents.splice(0, blockSize).map(bytesOf);
      for (const document of documents) one.crc.update(document);
      const name = { db: one.db, collection: one.collection };
      if (documents.length > 0) {
        parts.push(bytesOf({ ...name, EOF: false, CRC: Long.ZERO }), ...documents, TERMINATOR);
        continue;
      }
      const { high, low } = one.crc.sum;
      parts.push(bytesOf({ ...name, EOF: true, CRC: new Long(low, high) }), TERMINATOR);
      left.splice(left.indexOf(one), 1);
    }
  }
  return Buffer.concat(parts);
}

function bytesOf(document: object): Buffer {
  return Buffer.from(serialize(document));
}
