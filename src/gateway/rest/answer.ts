import type { EndSignal } from '../../base/model/end-signal.js';
import { contentTypeOf } from '../../base/tables/format.js';

/** The answer of a route, before `src/gateway/server/answering.ts` writes it to the wire. */
export type Answer = WholeAnswer | StreamAnswer | EmptyAnswer;

/** A header with several values is sent as several lines, as for cookies. */
export type AnswerHeaders = Readonly<Record<string, string | string[]>>;

export interface WholeAnswer {
  readonly kind: 'text';
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
  readonly headers?: AnswerHeaders;
  /** The number of records, for the metrics. Absent: not counted. */
  readonly rowCount?: number;
}

/** Nothing has been read yet: `open` starts the work, and the signal ends it. */
export interface StreamAnswer {
  readonly kind: 'stream';
  readonly mediaType: string;
  readonly headers?: AnswerHeaders;
  open(signal: EndSignal): AsyncIterable<string | Uint8Array>;
  /** The number of records read so far, for the metrics. Absent: not counted. */
  readonly countRows?: () => number;
  /**
   * How much is read before the first byte is sent. An answer that ends before that is sent in one piece, and
   * does not count as a stream. Absent: the size of an ordinary write.
   */
  readonly gatherBytes?: number;
}

const PRINTED_HERE: ReadonlySet<string> = new Set([contentTypeOf('xlsx'), contentTypeOf('parquet')]);

/** Whether the gateway prints and compresses it row by row; the other formats are printed by PostgreSQL. */
export function isPrintedHere({ mediaType }: StreamAnswer): boolean {
  return PRINTED_HERE.has(mediaType);
}

interface EmptyAnswer {
  readonly kind: 'empty';
  readonly status: 204 | 304;
  readonly headers?: AnswerHeaders;
}

export function jsonAnswer(
  text: string,
  options: { readonly status?: number; readonly headers?: AnswerHeaders } = {},
): WholeAnswer {
  return {
    kind: 'text',
    status: options.status ?? 200,
    mediaType: 'application/json; charset=utf-8',
    text,
    ...(options.headers && { headers: options.headers }),
  };
}
