/** A report as the schema declares it: its parameters and its columns. */
export interface AskableReport {
  /** Its field of `Query`. */
  readonly field: string;
  readonly parameters: readonly AskedParameter[];
  readonly columns: readonly ReportColumn[];
  readonly totals: readonly ReportColumn[];
  /** The operation that selects all of its columns. */
  readonly document: string;
}

export interface AskedParameter {
  readonly name: string;
  /** The GraphQL type, e.g. `LocalDate`. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly choices: readonly string[] | null;
  /** The label. Default: from the name. */
  readonly title?: string;
  /** The labels of the choices. Default: from their names. */
  readonly titles?: Readonly<Record<string, string>>;
  /** The height of a text of several lines. */
  readonly lines?: number | undefined;
}

/** The value of an input. A text that is not a number is sent as is, and the gateway explains the fault. */
export function valueOfText({ type }: Pick<AskedParameter, 'type'>, text: string): unknown {
  if (type === 'Boolean') return text === 'true';
  return (type === 'Int' || type === 'Float') && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The names of parameters in REST that are not those of the schema in snake case. A test compares them. */
const REST_NAMES: Readonly<Record<string, string>> = {
  ...{ role: 'roles', studentId: 'name.value', userId: 'name.value' },
};

/** The name of a parameter in REST, e.g. `as_on`. */
export function restNameOf(name: string): string {
  return REST_NAMES[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface ReportColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isList: boolean;
  /** The members of an object, or of each object of a list. */
  readonly members: readonly ReportLeaf[];
}

/** A value without members. */
export type ReportLeaf = Pick<ReportColumn, 'name' | 'type' | 'description'>;

export type ReportRow = Readonly<Record<string, unknown>>;

/** A page of the portal, such as the record or the report behind a value. */
export interface LinkedPage {
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}
