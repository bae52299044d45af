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
  readonly right?: boolean;
  readonly target?: string | readonly string[];
  readonly fields?: readonly DeclaredField[];
}

interface DeclaredAccess {
  readonly verbs: readonly Verb[];
  readonly hiddenFields?: readonly string[];
  readonly rows?: DeclaredRule;
  readonly alsoReads?: readonly DeclaredRule[];
}

interface DeclaredRule {
  readonly fields: readonly string[];
  readonly attribute: string;
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
    // Who may log in is no matter of records: these keys say nothing of accounts.
    if (verb === 'delete' && collection.fields.some(({ right }) => right === true)) return 403;
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
    hiddenFields: hiddenFrom(granting, verb),
    isInReach: (record) =>
      granting.some((access) => rulesOf(access, verb)?.some((rule) => isAmong(record, rule, caller)) ?? true),
  };
}

/** Any of them holds for a record in reach; `undefined`: all are. */
function rulesOf({ rows, alsoReads = [] }: DeclaredAccess, verb: Verb): readonly DeclaredRule[] | undefined {
  return rows && (verb === 'read' ? [rows, ...alsoReads] : [rows]);
}

/**
 * With several roles, a field is hidden where one of them hides it, unless another shows it in all the rows
 * of that one: no two roles together tell more of a record than one of them alone. Roles with different rules
 * are told apart by their text, for none of ours has some of the rules of another.
 */
function hiddenFrom(granting: readonly DeclaredAccess[], verb: Verb): ReadonlySet<string> {
  const hidden = granting.flatMap((access) =>
    (access.hiddenFields ?? []).filter(
      (field) =>
        !granting.some(
          (other) =>
            other.hiddenFields?.includes(field) !== true &&
            (other.rows === undefined ||
              JSON.stringify(rulesOf(other, verb)) === JSON.stringify(rulesOf(access, verb))),
        ),
    ),
  );
  return new Set(hidden);
}

function isAmong(record: Record<string, unknown>, rule: DeclaredRule, caller: Caller): boolean {
  const values = rule.fields.map((path) => valueAt(record, path));
  if (rule.attribute === 'roles') return caller.roles.some((role) => [values[0]].flat().includes(role));
  return (caller.attributes[rule.attribute] ?? []).some((tuple) =>
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
