/** The progress of a backup or a restore, in rows. */
export interface TransferStep {
  /** The collection or table being copied. */
  readonly stage: string;
  readonly done: number;
  /** All rows; an estimate during a backup. */
  readonly total: number;
}
