/** Documents as they are declared, and as clients get them. */

export interface PrintChoice {
  readonly name: string;
  readonly label?: string;
  readonly kind: 'session' | 'month' | 'day' | 'text' | 'values';
  readonly values?: readonly string[];
}

/** The head of a file; schema/prints/print.schema.json explains each key. */
export interface PrintDefinition {
  readonly name: string;
  readonly title: string;
  readonly translations?: Readonly<
    Record<string, { readonly title?: string; readonly words?: Readonly<Record<string, string>> }>
  >;
  readonly collection: string;
  readonly report?: string;
  readonly pages: 'each' | 'all';
  readonly leads?: boolean;
  readonly paper: string;
  readonly by?: readonly string[];
  readonly where?: Readonly<Record<string, unknown>>;
  readonly orderBy?: readonly string[];
  readonly copy?: Readonly<Record<string, string>>;
  readonly choose?: readonly PrintChoice[];
  readonly query: string;
  readonly style?: string;
}

interface PrintedRecordNames {
  /** The field of GraphQL for many records; null for documents of any collection. */
  readonly plural: string | null;
  /** The field with the name of a record. */
  readonly label: string;
}

type MenuKey = 'name' | 'title' | 'collection' | 'report' | 'pages' | 'leads' | 'by' | 'copy';

/** A document as `me.prints` has it. */
export interface PrintHead extends Pick<PrintDefinition, MenuKey>, PrintedRecordNames {
  readonly translations: Readonly<Record<string, { readonly title?: string | null }>>;
}

/** A document as `print` returns it. */
export interface PrintLayout extends PrintDefinition, PrintedRecordNames {
  readonly style: string;
  readonly html: string;
  readonly partials: Readonly<Record<string, string>>;
  readonly school: { readonly name: string; readonly address: string | null; readonly logo: string | null };
}
