/** Documents as `me.prints` and `print` describe them; schema/prints/print.schema.json explains each key. */
import { useLingui } from '@lingui/react';
import { useViewer } from '../gateway/use-gateway';

export interface PrintHead {
  readonly name: string;
  readonly title: string;
  readonly translations: Readonly<Record<string, { readonly title?: string | null }>>;
  readonly collection: string;
  readonly report?: string;
  readonly pages: 'each' | 'all';
  readonly leads?: boolean;
  readonly by?: readonly string[];
  readonly copy?: Readonly<Record<string, string>>;
  /** The field of GraphQL for many records; null for documents of any collection. */
  readonly plural: string | null;
  /** The field with the name of a record. */
  readonly label: string;
}

export interface PrintChoice {
  readonly name: string;
  readonly label?: string;
  readonly kind: 'session' | 'month' | 'day' | 'text' | 'values';
  readonly values?: readonly string[];
}

export interface PrintLayout extends Omit<PrintHead, 'translations'> {
  readonly translations?: Readonly<
    Record<string, { readonly title?: string; readonly words?: Readonly<Record<string, string>> }>
  >;
  readonly paper: string;
  readonly where?: Readonly<Record<string, unknown>>;
  readonly orderBy?: readonly string[];
  readonly choose?: readonly PrintChoice[];
  readonly query: string;
  readonly style: string;
  readonly html: string;
  readonly partials: Readonly<Record<string, string>>;
  readonly school: { readonly name: string; readonly address: string | null; readonly logo: string | null };
}

/** The documents that the viewer may print, with their titles in the language of the page. */
export function usePrints(): readonly PrintHead[] {
  const { locale } = useLingui().i18n;
  return (useViewer().prints as readonly PrintHead[]).map((head) => ({
    ...head,
    title: head.translations[locale]?.title ?? head.title,
  }));
}
