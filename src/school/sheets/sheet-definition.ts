/** Sheets as they are declared, and as clients get them. */

export interface SheetValue {
  readonly value: string;
  readonly key: string;
}

/** The names of the fields that hold parts and their items. */
export interface SheetParts {
  readonly list: string;
  readonly name: string;
  readonly items: string;
  readonly item: string;
  readonly value: string;
  readonly max: string;
  readonly weight?: string;
  readonly state: string;
  readonly scored: string;
  readonly empty: string;
  readonly states: readonly SheetValue[];
}

/** A sheet as it is declared; schema/sheets/sheet.schema.json explains each key. */
export interface SheetDefinition {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly translations?: Readonly<
    Record<string, { readonly title?: string; readonly description?: string }>
  >;
  readonly icon?: string;
  readonly collection: string;
  readonly key: string;
  readonly member: string;
  readonly day?: string;
  readonly savedBy?: string;
  readonly choose?: readonly string[];
  readonly members: {
    readonly collection: string;
    readonly by: readonly string[];
    readonly where?: Readonly<Record<string, unknown>>;
    readonly orderBy?: readonly string[];
    readonly number?: string;
  };
  readonly copy?: Readonly<Record<string, string>>;
  readonly cells?: readonly { readonly field: string; readonly values?: readonly SheetValue[] }[];
  readonly parts?: SheetParts;
}

/** A sheet as `me.sheets` has it. */
export interface SheetDeclaration extends SheetDefinition {
  readonly members: SheetDefinition['members'] & {
    /** The field of GraphQL for many members, e.g. `registrations`. */
    readonly plural: string;
    /** The field with the name of a member. */
    readonly label: string;
  };
}
