/** A saved view as the address of the grid says it, and back. */

/** What of the address of the grid a view keeps. */
export const SHOWN_RECORDS = { search: '', oquery: '', where: '', sort: '', columns: '' };

export type ShownRecords = Readonly<typeof SHOWN_RECORDS>;

/** Beside what is shown, the id of the view that was chosen: '' for none, so that a default one may be. */
export const VIEW_ADDRESS = { ...SHOWN_RECORDS, view: '' };

/** In the place of an id: all records were asked for, whichever view is the default. */
export const ALL_RECORDS = 'all';

/** The fields of a view that say what it shows. */
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

/** What is not asked is not kept. */
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

/** The one that a collection opens with: one's own before one that is shared. */
export function findDefaultView<View extends ChoosableView>(
  views: readonly View[],
  userId: string,
): View | undefined {
  const defaults = views.filter(({ isDefault }) => isDefault === true);
  return defaults.find(({ owner }) => owner?.id === userId) ?? defaults[0];
}
