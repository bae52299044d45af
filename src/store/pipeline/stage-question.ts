/**
 * The messages between the gateway and a process that runs stages. They carry documents as JSON text, so
 * that neither side builds objects to pass them on.
 */

export interface StageQuestion {
  /** The stages as the pipeline has them, e.g. `{"$project": …}`, as JSON text. */
  readonly stages: readonly string[];
  /** The most characters of the result, as JSON text. */
  readonly maxLength: number;
  readonly documents: readonly string[];
}

/** The first message of a process, sent when its modules are loaded. */
export const STAGES_ARE_READY = 'ready';

export type StageAnswer =
  | { readonly kind: 'documents'; readonly documents: readonly string[] }
  | { readonly kind: 'refused'; readonly stage: string; readonly reason: string }
  | { readonly kind: 'too much' };
