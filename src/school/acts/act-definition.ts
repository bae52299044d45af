/** Acts as they are declared, and as clients get them. */

/** A place where acts are shown: one of these. */
export interface ActPlace {
  readonly record?: string;
  readonly collection?: string;
  readonly report?: string;
  readonly sheet?: string;
  readonly home?: true;
}

interface DeclaredInput {
  readonly from?: string;
  readonly value?: unknown;
  readonly isAsked?: boolean;
  readonly isRequired?: boolean;
  readonly title?: string;
  readonly lines?: number;
  readonly choices?: Readonly<Record<string, string>>;
}

export interface ActInput extends DeclaredInput {
  /** E.g. `rollback.reason`. */
  readonly path: string;
  readonly type: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly allowed: readonly string[] | null;
  readonly description: string;
}

export interface ShownResult {
  readonly field: string;
  readonly title: string;
  readonly unit?: 'money';
  readonly otherwise?: string;
}

/** Members that are sent to clients unchanged; schema/acts/act.schema.json explains each key. */
interface ActWords {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly done?: string;
  readonly icon?: string;
  readonly translations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly on: readonly ActPlace[];
  readonly when?: readonly {
    readonly field: string;
    readonly is?: readonly unknown[];
    readonly otherwise: string;
  }[];
  readonly opens?: string;
  readonly mutation?: string;
  readonly preview?: string;
  readonly result?: readonly ShownResult[];
  readonly rows?: { readonly list: string; readonly columns: readonly ShownResult[] };
  readonly isDangerous?: boolean;
  readonly isUndoable?: boolean;
}

export interface ActDefinition extends ActWords {
  readonly needs: {
    readonly me?: string;
    readonly collection?: string;
    readonly verb?: 'read' | 'create' | 'update' | 'delete';
    readonly fields?: readonly string[];
  };
  readonly inputs?: Readonly<Record<string, DeclaredInput>>;
}

/** An act as `me.acts` has it. */
export interface Act extends ActWords {
  readonly inputs: readonly ActInput[];
  /** The document that calls the mutation. */
  readonly document?: string;
}
