import type { EndSignal } from '../model/end-signal.js';

/** What a row of the table answers, before it is written to the wire by `src/server/answering.ts`. */
export type Answer = WholeAnswer | StreamAnswer | EmptyAnswer;

export interface WholeAnswer {
  readonly kind: 'text';
  readonly status: number;
  readonly mediaType: string;
  readonly text: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Records in it, for the figures. Absent: not counted. */
  readonly rowCount?: number;
}

/** Nothing has been read yet: `open` starts, and the signal ends, the work. */
export interface StreamAnswer {
  readonly kind: 'stream';
  readonly mediaType: string;
  readonly headers?: Readonly<Record<string, string>>;
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
  readonly headers?: Readonly<Record<string, string>>;
}

export function jsonAnswer(
  text: string,
  options: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): WholeAnswer {
  return {
    kind: 'text',
    status: options.status ?? 200,
    mediaType: 'application/json; charset=utf-8',
    text,
    ...(options.headers && { headers: options.headers }),
  };
}
