/**
 * What the gateway and a process of stages say to each other. Documents travel as JSON text, which costs
 * neither side the other's objects.
 */

export interface StageQuestion {
  /** Each as it is written in the pipeline, e.g. `{"$project": …}`, as JSON text. */
  readonly stages: readonly string[];
  /** The most characters of the documents that come of it, as JSON text. */
  readonly maxLength: number;
  readonly documents: readonly string[];
}

/** The first word of a process, when its modules are loaded. */
export const STAGES_ARE_READY = 'ready';

export type StageAnswer =
  | { readonly kind: 'documents'; readonly documents: readonly string[] }
  | { readonly kind: 'refused'; readonly stage: string; readonly reason: string }
  | { readonly kind: 'too much' };
