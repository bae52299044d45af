/** The scopes of a key, as the pages about keys read and write them. */
import { phrase } from '../language/use-texts';

export interface PickedScopes {
  /** The verbs by collection name. `*` stands for all collections. */
  readonly collections: Readonly<Record<string, readonly string[]>>;
  readonly reports: readonly string[];
  readonly scripts: readonly string[];
  /** Whether it may change accounts. */
  readonly accounts?: boolean;
}

export const NO_SCOPES: PickedScopes = { collections: {}, reports: [], scripts: [] };

export const VERB_LABELS: Readonly<Record<string, string>> = {
  read: phrase('Read'),
  create: phrase('Create'),
  update: phrase('Change'),
  delete: phrase('Remove'),
};

/** A missing member allows nothing. */
export function readScopes(written: unknown): PickedScopes {
  return { ...NO_SCOPES, ...(written as Partial<PickedScopes> | null) };
}

export function hasScopes({ collections, reports, scripts, accounts }: PickedScopes): boolean {
  return accounts === true || Object.keys(collections).length + reports.length + scripts.length > 0;
}

/** The scopes with or without these verbs of a collection. */
export function withVerbsSet(
  scopes: PickedScopes,
  collection: string,
  verbs: readonly string[],
  isOn: boolean,
): PickedScopes {
  const { [collection]: before = [], ...others } = scopes.collections;
  const next = withSet(before, verbs, isOn);
  return { ...scopes, collections: next.length > 0 ? { ...others, [collection]: next } : others };
}

export function withAccountsSet({ accounts: _, ...others }: PickedScopes, isOn: boolean): PickedScopes {
  return isOn ? { ...others, accounts: true } : others;
}

/** The scopes with or without these reports. */
export function withReportsSet(
  scopes: PickedScopes,
  reports: readonly string[],
  isOn: boolean,
): PickedScopes {
  return { ...scopes, reports: withSet(scopes.reports, reports, isOn) };
}

function withSet(before: readonly string[], names: readonly string[], isOn: boolean): readonly string[] {
  const others = before.filter((one) => !names.includes(one));
  return isOn ? [...others, ...names] : others;
}
