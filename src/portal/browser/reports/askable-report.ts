/** A report as the schema declares it: what is asked for by, and what comes. */
export interface AskableReport {
  /** Its field of `Query`. */
  readonly field: string;
  readonly parameters: readonly AskedParameter[];
  readonly columns: readonly ReportColumn[];
  readonly totals: readonly ReportColumn[];
  /** Asks for all of that. */
  readonly document: string;
}

export interface AskedParameter {
  readonly name: string;
  /** Of GraphQL, e.g. `LocalDate`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly choices: readonly string[] | null;
}

export interface ReportColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isList: boolean;
  /** Of an object, or of each object of a list. */
  readonly members: readonly ReportLeaf[];
}

/** A value with nothing in it. */
export type ReportLeaf = Pick<ReportColumn, 'name' | 'type' | 'description'>;
