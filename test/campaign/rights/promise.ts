/**
 * What the declarations promise each caller, worked out from the files of schema/collections alone: none of
 * the service's own code is asked. A rule that is read differently here and there is what the matrix is to
 * find.
 */
import { readdirSync, readFileSync } from 'node:fs';

export type Verb = 'read' | 'create' | 'update' | 'delete';

export interface DeclaredField {
  readonly name: string;
  readonly type: 'text' | 'number' | 'boolean' | 'datetime' | 'reference' | 'object';
  readonly format?: string;
  readonly list?: boolean;
  readonly unique?: boolean;
  readonly enum?: readonly string[];
  readonly target?: string | readonly string[];
  readonly fields?: readonly DeclaredField[];
}

interface DeclaredAccess {
  readonly verbs: readonly Verb[];
  readonly hiddenFields?: readonly string[];
  readonly rows?: { readonly fields: readonly string[]; readonly attribute: string };
}

export interface Declared {
  readonly name: string;
  readonly singular?: string;
  readonly plural?: string;
  readonly fields: readonly DeclaredField[];
  readonly access?: Readonly<Record<string, DeclaredAccess>>;
}

export interface Caller {
  readonly name: string;
  /** The `Authorization` and other headers it sends. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty: no credential that is good. */
  readonly roles: readonly string[];
  readonly userId: string;
  /** What an API key leaves of the roles. */
  readonly collections?: Readonly<Record<string, readonly Verb[]>>;
  readonly reports?: readonly string[];
  /** The domain it acts in. */
  readonly domain: 'top' | 'branch';
  /** By the name of the attribute; what a row rule compares with. */
  readonly attributes: Readonly<Record<string, readonly (readonly string[])[]>>;
}

export interface Promised {
  readonly hiddenFields: ReadonlySet<string>;
  readonly isInReach: (record: Record<string, unknown>) => boolean;
}

const DIRECTORY = new URL('../../../schema/collections/', import.meta.url);

export const COLLECTIONS: readonly Declared[] = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith('.json') && !file.endsWith('.schema.json'))
  .map((file) => JSON.parse(readFileSync(new URL(file, DIRECTORY), 'utf8')));

/** What the caller may do by a verb; otherwise the status it is answered with. */
export function promiseOf(caller: Caller, collection: Declared, verb: Verb): Promised | 401 | 403 {
  if (caller.roles.length === 0) return 401;
  if (caller.collections !== undefined) {
    const { [collection.name]: named = [], '*': any = [] } = caller.collections;
    if (!named.includes(verb) && !any.includes(verb)) return 403;
  }
  if (caller.roles.includes('admin') && collection.access?.admin === undefined) {
    return { hiddenFields: new Set(), isInReach: () => true };
  }
  const granting = caller.roles.flatMap((role) => {
    const access = collection.access?.[role];
    return access?.verbs.includes(verb) ? [access] : [];
  });
  if (granting.length === 0) return 403;
  return {
    hiddenFields: hiddenFrom(granting),
    isInReach: (record) => granting.some(({ rows }) => isAmong(record, rows, caller)),
  };
}

/**
 * With several roles, a field is hidden where one of them hides it, unless another shows it in all the rows
 * of that one: no two roles together tell more of a record than one of them alone.
 */
function hiddenFrom(granting: readonly DeclaredAccess[]): ReadonlySet<string> {
  const hidden = granting.flatMap(({ rows, hiddenFields = [] }) =>
    hiddenFields.filter(
      (field) =>
        !granting.some(
          (other) =>
            other.hiddenFields?.includes(field) !== true &&
            (other.rows === undefined || JSON.stringify(other.rows) === JSON.stringify(rows)),
        ),
    ),
  );
  return new Set(hidden);
}

function isAmong(record: Record<string, unknown>, rows: DeclaredAccess['rows'], caller: Caller): boolean {
  if (rows === undefined) return true;
  const values = rows.fields.map((path) => valueAt(record, path));
  return (caller.attributes[rows.attribute] ?? []).some((tuple) =>
    tuple.every((value, index) => value === values[index]),
  );
}

function valueAt(record: Record<string, unknown>, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], record);
}

/** The root fields of the typed schema. */
export function graphqlNames({ name, singular, plural }: Declared): { one: string; many: string } {
  const camel = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return { one: singular ?? camel, many: plural ?? `${singular ?? camel}s` };
}

/** The first reference of a record, itself no list, that may point to a user. */
export function referenceToUser({ fields }: Declared): DeclaredField | undefined {
  return fields.find(({ type, list, target }) => {
    const targets = typeof target === 'string' ? [target] : (target ?? []);
    return type === 'reference' && list !== true && targets.includes('pltf_user');
  });
}
