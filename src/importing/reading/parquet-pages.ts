/**
 * The pages of a column in a Parquet file, with their values. The size that a page declares is checked
 * before the page is unpacked, because a few bytes may claim to be gigabytes.
 */
import type { FileHandle } from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { decompress as unpackZstd } from 'fzstd';
import {
  type ColumnMetaData,
  type DecodedArray,
  type PageHeader,
  type SchemaTree,
  snappyUncompress,
} from 'hyparquet';
import { parquetHeader, readPage } from 'hyparquet/src/column.js';
import { convert } from 'hyparquet/src/convert.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel, isFlatColumn } from 'hyparquet/src/schema.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { ServiceError } from '../../errors.js';
import { assertDeltas, deltaBytes } from './delta-bytes.js';
import type { PageBudget, PageSize } from './page-budget.js';
import { PARQUET_PARSERS } from './parquet-values.js';
import { unpackLz4 } from './unpack-lz4.js';

/** A header contains the least and the greatest value of its page. */
const HEADER_BYTES = 64 * 1024;

/** A column within a row group. */
export interface ColumnPlace {
  readonly handle: FileHandle;
  readonly fileBytes: number;
  /** The budget shared by all columns that are read together. */
  readonly budget: PageBudget;
  readonly metadata: ColumnMetaData;
  /** The schema elements from the root to the leaf. */
  readonly schemaPath: readonly SchemaTree[];
}

/** The values of a page, and their share of the budget. */
interface ReadPage {
  readonly values: DecodedArray;
  readonly size: PageSize;
  /** Whether they continue the list that is the last value of the previous page, in the same array. */
  readonly goesOn: boolean;
}

/** The pages in order. @throws MALFORMED_REQUEST if a page does not match its description; LIMIT_EXCEEDED */
export async function* parquetPages(place: ColumnPlace): AsyncGenerator<ReadPage> {
  const { metadata, budget } = place;
  const { first, end } = bytesOf(place);
  const decoder = decoderOf(place);
  let dictionary: DecodedArray | undefined;
  let before: DecodedArray | undefined;
  const isFlat = isFlatColumn([...place.schemaPath]);
  let left = Number(metadata.num_values);
  for (let at = first; left > 0; ) {
    const { header, offset } = await readHeader(place, at, end);
    at = offset + header.compressed_page_size;
    if (at > end) throw damaged(place, 'a page goes beyond its column');
    const said = sizeOf(place, header, left);
    budget.take(said);
    const packed = await readBytes(place, offset, header.compressed_page_size);
    const page = unpacked(place, packed, header);
    if (header.type === 'DICTIONARY_PAGE') {
      const { data } = readPage(page.reader, page.header, decoder, undefined, undefined, 0);
      dictionary = data && convert(data, decoder);
      continue;
    }
    if (header.type === 'INDEX_PAGE') continue;
    const grown = { bytes: assertValuesFit(place, page, said.values), values: 0 };
    budget.take(grown);
    const size = { ...said, bytes: said.bytes + grown.bytes };
    const { data: values } = readPage(page.reader, page.header, decoder, dictionary, before, 0);
    left -= said.values;
    if (values === undefined) continue;
    yield { values, size, goesOn: values === before };
    // A list may continue in the next page. A plain value never does.
    if (!isFlat) before = values;
  }
}

/**
 * Reserves in the budget the memory of the column while its first `rows` rows are made, according to the
 * headers of its pages. Nothing is unpacked. A nested column needs all of its pages, a plain one its
 * dictionary and one page.
 *
 * @throws LIMIT_EXCEEDED if that exceeds the memory limit, MALFORMED_REQUEST if a header is damaged
 */
export async function takeFirstPages(place: ColumnPlace, rows: number): Promise<void> {
  const { first, end } = bytesOf(place);
  const isFlat = isFlatColumn([...place.schemaPath]);
  let left = Number(place.metadata.num_values);
  for (let at = first; left > 0; ) {
    const { header, offset } = await readHeader(place, at, end);
    at = offset + header.compressed_page_size;
    if (at > end) throw damaged(place, 'a page goes beyond its column');
    const size = sizeOf(place, header, left);
    const isData = isDataPage(header);
    // A page with fewer values is returned to the budget before the pages of the other columns are read.
    if (isFlat && isData && size.values < rows) return;
    place.budget.take(size);
    if (isFlat && isData) return;
    if (isData) left -= size.values;
  }
}

type Decoder = Parameters<typeof readPage>[2];

function decoderOf({ metadata, schemaPath }: ColumnPlace): Decoder {
  const leaf = schemaPath.at(-1);
  return {
    pathInSchema: metadata.path_in_schema,
    type: metadata.type,
    element: leaf?.element ?? { name: '' },
    schemaPath: [...schemaPath],
    // The bytes were unpacked before.
    codec: 'UNCOMPRESSED',
    parsers: PARQUET_PARSERS,
    utf8: false,
  };
}

function bytesOf(place: ColumnPlace): { readonly first: number; readonly end: number } {
  const { dictionary_page_offset: dictionary, data_page_offset: data } = place.metadata;
  const first = Number(dictionary || data);
  const end = first + Number(place.metadata.total_compressed_size);
  if (!(first >= 4 && end >= first && end <= place.fileBytes)) {
    throw damaged(place, 'the column is said to be where the file has nothing');
  }
  return { first, end };
}

async function readHeader(place: ColumnPlace, at: number, end: number) {
  const bytes = await readBytes(place, at, Math.min(HEADER_BYTES, end - at));
  const reader = readerOf(bytes);
  const header = parquetHeader(reader);
  return { header, offset: at + reader.offset };
}

/** The size that the header declares, if it is possible. */
function sizeOf(place: ColumnPlace, header: PageHeader, left: number): PageSize {
  const data = header.data_page_header ?? header.data_page_header_v2;
  const { compressed_page_size: packed, uncompressed_page_size: bytes } = header;
  const values = data?.num_values ?? header.dictionary_page_header?.num_values ?? 0;
  const isData = isDataPage(header);
  if (!(packed >= 0 && bytes >= 0 && values >= 0)) throw damaged(place, 'a page has a size below 0');
  if (isData && (values > left || values === 0))
    throw damaged(place, 'its pages hold other numbers of values');
  if (!isData && values > bytes) throw damaged(place, 'its dictionary says more values than it has bytes');
  // Data that cannot be compressed grows only slightly.
  if (packed > 2 * bytes + HEADER_BYTES) throw damaged(place, 'a page is longer packed than it is unpacked');
  return { bytes, values };
}

function isDataPage({ type }: PageHeader): boolean {
  return type === 'DATA_PAGE' || type === 'DATA_PAGE_V2';
}

interface UnpackedPage {
  readonly reader: { view: DataView; offset: number };
  readonly header: PageHeader;
}

/** The page without compression. In version 2, its levels are never compressed. */
function unpacked(place: ColumnPlace, packed: Uint8Array, header: PageHeader): UnpackedPage {
  const second = header.data_page_header_v2;
  const levels =
    second === undefined ? 0 : second.definition_levels_byte_length + second.repetition_levels_byte_length;
  if (!(levels >= 0 && levels <= packed.length && levels <= header.uncompressed_page_size)) {
    throw damaged(place, 'the levels of a page are longer than it is');
  }
  const isPacked = second?.is_compressed !== false && place.metadata.codec !== 'UNCOMPRESSED';
  const body = packed.subarray(levels);
  const values = isPacked ? unpack(place, body, header.uncompressed_page_size - levels) : body;
  const bytes = levels === 0 ? values : Buffer.concat([packed.subarray(0, levels), values]);
  if (bytes.length !== header.uncompressed_page_size)
    throw damaged(place, 'a page has another size than it says');
  return {
    reader: readerOf(bytes),
    header: {
      ...header,
      compressed_page_size: bytes.length,
      ...(second && { data_page_header_v2: { ...second, is_compressed: false } }),
    },
  };
}

function unpack(place: ColumnPlace, packed: Uint8Array, length: number): Uint8Array {
  const { codec } = place.metadata;
  switch (codec) {
    case 'SNAPPY': {
      const bytes = new Uint8Array(length);
      snappyUncompress(packed, bytes);
      return bytes;
    }
    case 'GZIP':
      return gunzipSync(packed, { maxOutputLength: Math.max(1, length) });
    case 'BROTLI':
      return brotliDecompressSync(packed, { maxOutputLength: Math.max(1, length) });
    case 'ZSTD':
      return unpackZstd(packed, new Uint8Array(length));
    case 'LZ4_RAW':
      return unpackLz4(packed, length);
    default:
      throw refused(
        place,
        `the codec ${codec}, which is not read; use SNAPPY, GZIP, BROTLI, ZSTD or LZ4_RAW`,
      );
  }
}

/**
 * A run stores in a few bytes how often its value occurs, and the decoder trusts it. Therefore no run may be
 * longer than the number of values that its page declares. Returns the memory of the values beyond the bytes
 * of the page.
 *
 * @throws MALFORMED_REQUEST; RangeError if texts have other lengths than declared
 */
function assertValuesFit(place: ColumnPlace, { reader, header }: UnpackedPage, values: number): number {
  const { view } = reader;
  const second = header.data_page_header_v2;
  const data = second ?? header.data_page_header;
  const isDelta = data?.encoding === 'DELTA_BYTE_ARRAY';
  const path = [...place.schemaPath];
  const most = [getMaxRepetitionLevel(path), getMaxDefinitionLevel(path)];
  let present = values - (second?.num_nulls ?? 0);
  let at = 0;
  for (const [index, width] of most.map(widthOf).entries()) {
    if (width === 0) continue;
    const isSaid = second !== undefined;
    const lengths = [second?.repetition_levels_byte_length, second?.definition_levels_byte_length];
    const length = (isSaid ? lengths[index] : view.getUint32(at, true)) ?? 0;
    const begin = isSaid ? at : at + 4;
    const levels = new DataView(view.buffer, view.byteOffset + begin, length);
    assertRuns(place, levels, { width, values });
    if (isDelta && !isSaid && index === 1) present = countOf(levels, { width, values, level: most[1] ?? 0 });
    at = begin + length;
  }
  if (isDelta) return deltaBytes(view, at, present);
  if (data?.encoding.startsWith('DELTA_')) assertDeltas(view, at);
  const isRuns = data?.encoding === 'RLE' || data?.encoding.endsWith('_DICTIONARY');
  if (!isRuns || at >= view.byteLength) return 0;
  const isFlag = place.metadata.type === 'BOOLEAN';
  const begin = isFlag ? at + 4 : at + 1;
  const width = isFlag ? 1 : view.getUint8(at);
  if (width > 32) throw damaged(place, 'a dictionary has more than 32 bits');
  const runs = new DataView(view.buffer, view.byteOffset + begin, Math.max(0, view.byteLength - begin));
  assertRuns(place, runs, { width, values });
  return 0;
}

/** The number of values with a level. Values with the greatest level are present, the others are missing. */
function countOf(
  view: DataView,
  { width, values, level }: { readonly width: number; readonly values: number; readonly level: number },
): number {
  const levels = new Array<number>(values).fill(0);
  readRleBitPackedHybrid({ view, offset: 0 }, width, levels, view.byteLength);
  return levels.filter((one) => one === level).length;
}

function assertRuns(
  place: ColumnPlace,
  view: DataView,
  { width, values }: { readonly width: number; readonly values: number },
): void {
  const reader = { view, offset: 0 };
  for (let seen = 0; seen < values && reader.offset < view.byteLength; ) {
    const run = readVarInt(reader);
    const isPacked = (run & 1) === 1;
    const count = isPacked ? (run >>> 1) * 8 : run >>> 1;
    // Bit-packed values may end with padding. Their number is that of the bytes.
    const isBounded = isPacked && width > 0;
    if (!isBounded && count > values + 7) throw damaged(place, 'a run in a page is longer than the page');
    reader.offset += isPacked ? (count / 8) * width : Math.ceil(width / 8);
    seen += count;
  }
}

function widthOf(most: number): number {
  return most === 0 ? 0 : 32 - Math.clz32(most);
}

/**
 * Copies bytes that share their memory with others, so that a false length does not lead into the other
 * data.
 */
function readerOf(bytes: Uint8Array): { view: DataView; offset: number } {
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
  return { view: new DataView(own.buffer), offset: 0 };
}

async function readBytes(place: ColumnPlace, at: number, length: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await place.handle.read(new Uint8Array(length), 0, length, at);
  if (bytesRead !== length) throw damaged(place, 'the file ends within it');
  return buffer;
}

function damaged({ metadata }: ColumnPlace, reason: string): ServiceError {
  return new ServiceError(
    'MALFORMED_REQUEST',
    `The Parquet file is damaged in column ${metadata.path_in_schema.join('.')}: ${reason}; write it again.`,
  );
}

function refused({ metadata }: ColumnPlace, what: string): ServiceError {
  return new ServiceError(
    'MALFORMED_REQUEST',
    `Column ${metadata.path_in_schema.join('.')} of the Parquet file has ${what}.`,
  );
}
