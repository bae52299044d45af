import type { EndSignal } from '../model/end-signal.js';

/** What a row of the table answers, before it is written to the wire by `src/server/answering.ts`. */
export type Answer = WholeAnswer | StreamAnswer | EmptyAnswer;

/** Several values of a name are several lines, as cookies are. */
export type AnswerHeaders = Readonly<Record<string, string | string[]>>;

export interface WholeAnswer {
  readonly kind: 'text';
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
  readonly headers?: AnswerHeaders;
  /** Records in it, for the figures. Absent: not counted. */
  readonly rowCount?: number;
}

/** Nothing has been read yet: `open` starts, and the signal ends, the work. */
export interface StreamAnswer {
  readonly kind: 'stream';
  readonly mediaType: string;
  readonly headers?: AnswerHeaders;
  open(signal: EndSignal): AsyncIterable<string | Uint8Array>;
  /** Records read so far, for the figures. Absent: not counted. */
  readonly countRows?: () => number;
  /**
   * So much is read before the first byte is sent, and an answer that ends before is sent in one piece: it is
   * no stream then. Absent: what is worth a write.
   */
  readonly gatherBytes?: number;
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
