/**
 * `platform.db.readFile(fileId, res, opts)`: a file in pieces, each read when the script takes it. A script
 * has no response to write to, so `res` selects the form of the pieces: `text` (UTF-8, the default), its
 * `lines`, or `base64`, whose pieces can be concatenated.
 *
 * @see interface 1.2
 */
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { ServiceError } from '../../../../base/errors.js';
import type { Files } from '../../../files/files.js';
import { readArguments } from '../arguments.js';
import type { StreamBinding } from '../host-binding.js';

const PARAMETERS = {
  fileId: z.string(),
  res: z.enum(['text', 'lines', 'base64']).default('text'),
  opts: z
    .strictObject({
      /** The first byte. */
      start: z.number().int().min(0).optional(),
      /** The last byte, inclusive. */
      end: z.number().int().min(0).optional(),
    })
    .default({}),
};

const MAX_LINE_LENGTH = 1_000_000;

export function createReadFileBinding(services: {
  readonly files: Pick<Files, 'get' | 'open'>;
}): StreamBinding {
  return {
    name: 'db.readFile',
    kind: 'stream',
    async *open({ scope, signal, within }, args) {
      const { fileId, res, opts } = readArguments('db.readFile', PARAMETERS, args);
      const file = await services.files.get(scope, fileId, within);
      if (file.size === 0) return;
      const { start = 0, end = file.size - 1 } = opts;
      if (start > end || end >= file.size) {
        const detail =
          `opts: bytes ${start} to ${end} are not in the file "${file.name}", ` + `which has ${file.size}`;
        throw new ServiceError('INVALID_VALUE', detail, { errors: [{ parameter: 'opts', detail }] });
      }
      const { stream } = services.files.open(file, { signal, within, range: { start, end } });
      try {
        for await (const batch of PIECES[res](stream)) if (batch.length > 0) yield batch;
      } finally {
        stream.destroy();
      }
    },
  };
}

type Pieces = (bytes: AsyncIterable<Buffer>) => AsyncIterable<readonly string[]>;

const PIECES: Readonly<Record<'text' | 'lines' | 'base64', Pieces>> = { text, lines, base64 };

async function* text(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  for await (const chunk of bytes) {
    const piece = decoder.write(chunk);
    if (piece !== '') yield [piece];
  }
  const rest = decoder.end();
  if (rest !== '') yield [rest];
}

/**
 * Yields lines without their ends, `\n` or `\r\n`; a rest after the last end is a line unless it is empty.
 */
async function* lines(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let begun = '';
  for await (const [piece = ''] of text(bytes)) {
    const found = (begun + piece).split('\n');
    begun = found.pop() ?? '';
    if (begun.length > MAX_LINE_LENGTH) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `a line is longer than ${MAX_LINE_LENGTH} characters; read it as text`,
      );
    }
    yield found.map((line) => line.replace(/\r$/, ''));
  }
  if (begun !== '') yield [begun];
}

/** Reads multiples of three bytes, so that the concatenated pieces are the base64 of the whole. */
async function* base64(bytes: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  let rest = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const joined = Buffer.concat([rest, chunk]);
    const length = joined.length - (joined.length % 3);
    rest = joined.subarray(length);
    if (length > 0) yield [joined.toString('base64', 0, length)];
  }
  if (rest.length > 0) yield [rest.toString('base64')];
}
