/** The parts of a declaration that a page describes in words. The rest is shown as JSON. */
export interface WrittenDeclaration {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly fields?: readonly WrittenField[];
  readonly indexes?: readonly (readonly string[])[];
  readonly uniqueTogether?: readonly {
    readonly name: string;
    readonly parts: readonly { readonly path: string; readonly by?: 'value' | 'day' }[];
  }[];
  readonly checks?: readonly WrittenCheck[];
  readonly access?: Readonly<Record<string, WrittenAccess>>;
}

export interface WrittenField {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly list?: boolean;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly index?: boolean;
  readonly searchable?: boolean;
  readonly format?: string;
  readonly target?: string | readonly string[];
  readonly deprecated?: string;
}

export interface WrittenAccess {
  readonly verbs: readonly string[];
  readonly hiddenFields?: readonly string[];
  readonly readOnlyFields?: readonly string[];
  readonly rows?: WrittenRowRule;
  readonly alsoReads?: readonly WrittenRowRule[];
}

interface WrittenRowRule {
  readonly fields: readonly string[];
  readonly attribute: string;
}

export type WrittenCheck =
  | { readonly kind: 'sum'; readonly total: string; readonly of: readonly string[] }
  | { readonly kind: 'order'; readonly in?: string; readonly lower: string; readonly upper: string };
