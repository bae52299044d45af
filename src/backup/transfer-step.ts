/** How far a backup or a restore has come, in rows. */
export interface TransferStep {
  /** The collection or table that is copied. */
  readonly stage: string;
  readonly done: number;
  /** All of them; an estimate while a backup is made. */
  readonly total: number;
}
