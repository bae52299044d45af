/** Reads XML as a stream of elements, attributes and texts. */
import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import { ServiceError } from '../../../base/errors.js';

/** The events for elements. Their names have no prefix. */
export interface XmlEvents {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** The most text between two tags, or within a tag, that the parser holds. */
const MAX_BETWEEN_TAGS = 8 * 1024 ** 2;

/**
 * Reads a part chunk by chunk. After each chunk the caller may take the collected events. Declarations of
 * entities are rejected, because entities can expand without limit.
 *
 * @throws MALFORMED_REQUEST for malformed XML, LIMIT_EXCEEDED if a text is too long, with the line
 */
export async function* readXml(
  part: string,
  bytes: AsyncIterable<Buffer>,
  events: XmlEvents,
): AsyncGenerator<void> {
  const parser = new SaxesParser({ fragment: false });
  let sinceTag = 0;
  parser.on('doctype', () => {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `${part} in the workbook declares a document type, which no workbook needs ` +
        'and is not read. Save it again.',
    );
  });
  parser.on('error', (error) => {
    throw new ServiceError(
      'MALFORMED_REQUEST',
      `${part} in the workbook is no XML (${error.message}); save it again.`,
    );
  });
  parser.on('opentag', ({ name, attributes }) => {
    sinceTag = 0;
    events.open?.(localName(name), attributes as Readonly<Record<string, SaxesAttributePlain & string>>);
  });
  parser.on('closetag', ({ name }) => {
    sinceTag = 0;
    events.close?.(localName(name));
  });
  if (events.text) parser.on('text', (text) => events.text?.(text));
  if (events.text) parser.on('cdata', (text) => events.text?.(text));
  const decoder = new TextDecoder();
  for await (const chunk of bytes) {
    sinceTag += chunk.length;
    if (sinceTag > MAX_BETWEEN_TAGS) {
      throw new ServiceError(
        'LIMIT_EXCEEDED',
        `A text in ${part} of the workbook (line ${parser.line}) is longer than ${MAX_BETWEEN_TAGS} bytes; ` +
          'a cell holds at most 1048576 characters. Shorten it.',
      );
    }
    parser.write(decoder.decode(chunk, { stream: true }));
    yield;
  }
  parser.write(decoder.decode()).close();
  yield;
}

/** Reads a part to its end. */
export async function readWholeXml(
  part: string,
  bytes: AsyncIterable<Buffer>,
  events: XmlEvents,
): Promise<void> {
  for await (const _ of readXml(part, bytes, events));
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}
