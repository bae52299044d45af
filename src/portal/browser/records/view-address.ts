/** Converts between a saved view and the address of the grid. */

/** The part of the address of the grid that a view saves. */
export const SHOWN_RECORDS = { search: '', oquery: '', where: '', sort: '', columns: '' };

export type ShownRecords = Readonly<typeof SHOWN_RECORDS>;

/** Also the id of the chosen view; '' for none, so that the default one applies. */
export const VIEW_ADDRESS = { ...SHOWN_RECORDS, view: '' };

/** Replaces the id if the user wants all records instead of the default view. */
export const ALL_RECORDS = 'all';

/** The fields of a view that define what it shows. */
export interface ViewFields {
  readonly search: string | null;
  readonly oquery: string | null;
  readonly where: string | null;
  readonly sort: string | null;
  readonly columns: readonly string[] | null;
}

export function toShownRecords({ search, oquery, where, sort, columns }: ViewFields): ShownRecords {
  return {
    search: search ?? '',
    oquery: oquery ?? '',
    where: where ?? '',
    sort: sort ?? '',
    columns: columns?.join(',') ?? '',
  };
}

/** Converts the address to the fields of a view; empty parts are left out. */
export function toViewFields({ search, oquery, where, sort, columns }: ShownRecords): ViewFields {
  return {
    search: search || null,
    oquery: oquery || null,
    where: where || null,
    sort: sort || null,
    columns: columns === '' ? null : columns.split(','),
  };
}

export function isSameShown(one: ShownRecords, other: ShownRecords): boolean {
  return Object.keys(SHOWN_RECORDS).every(
    (name) => one[name as keyof ShownRecords] === other[name as keyof ShownRecords],
  );
}

interface ChoosableView {
  readonly isDefault: boolean | null;
  readonly owner: { readonly id: string | null } | null;
}

/** Returns the default view of a collection; the viewer's own takes precedence over a shared one. */
export function findDefaultView<View extends ChoosableView>(
  views: readonly View[],
  userId: string,
): View | undefined {
  const defaults = views.filter(({ isDefault }) => isDefault === true);
  return defaults.find(({ owner }) => owner?.id === userId) ?? defaults[0];
}

/** Parses an order such as `-date,name`, as in the address and in REST. */
export function orderInAddress(sort: string) {
  return sort
    .split(',')
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('-')
        ? { field: part.slice(1), direction: 'DESCENDING' as const }
        : { field: part, direction: 'ASCENDING' as const },
    );
}

/** The formats of exported records, by their names in an address, with their titles. */
export const EXPORT_FORMATS = [
  ['csv', 'CSV'],
  ['xlsx', 'Excel (XLSX)'],
  ['ndjson', 'NDJSON'],
  ['parquet', 'Parquet'],
  ['json', 'JSON'],
] as const;
