/** The messages between the gateway and the thread that prepares rows. */
import type { SourceFile, SourceOptions } from '../reading/row-source.js';
import type { ThreadFault } from './file-thread.js';
import type { AnswerOf, PreparationPlan, PreparedRows, Question } from './row-preparer.js';

export interface PreparerStart {
  readonly file: SourceFile;
  readonly source: SourceOptions;
  readonly plan: Omit<PreparationPlan, 'mapping'>;
  /**
   * The mapping as JSON text. An exact number is an object of ours, which does not survive the transfer to a
   * thread.
   */
  readonly mapping: string;
  readonly batchRows: number;
}

/** To the thread. */
export type PreparerOrder =
  /** The next batch. */
  | { readonly kind: 'next' }
  | { readonly kind: 'answer'; readonly answer: AnswerOf[Question['kind']] }
  /** The cells of rows of the last batches. */
  | { readonly kind: 'sources'; readonly numbers: readonly number[] };

/** From the thread. */
export type PreparerReport =
  | { readonly kind: 'batch'; readonly batch: PreparedRows }
  | { readonly kind: 'end' }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'sources'; readonly sources: ReadonlyMap<number, readonly string[]> }
  | ThreadFault;
