/** The scopes of an API key: the most it may do, parsed from its owner's request. */
import { z } from 'zod';
import { type ErrorDetail, ServiceError } from '../../base/errors.js';
import { pointerStep } from '../../base/model/path.js';
import type { KeyScopes, Principal, RecordVerb } from '../../base/model/scope.js';

/** The names a scope may use. */
export interface ScopeNames {
  readonly isCollection: (name: string) => boolean;
  readonly isReport: (name: string) => boolean;
}

const VERBS = ['read', 'create', 'update', 'delete'] as const satisfies readonly RecordVerb[];
const SCRIPT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const MOST_NAMES = 200;

/** The scopes of an API key as stored, and of a token as signed. */
export const StoredScopes = z.object({
  collections: z.record(z.string(), z.array(z.enum(VERBS))),
  reports: z.array(z.string()),
  scripts: z.array(z.string()),
  accounts: z.literal(true).optional(),
});

/** The values that each member of the scopes of an API key may have, for errors. */
const EXPECTED: Readonly<Record<string, string>> = {
  collections: `{"<collection>": [${VERBS.join(', ')} or *]}`,
  reports: 'a list of the names of reports, or ["*"]',
  scripts: 'a list of the names of scripts, or ["*"]',
  accounts: 'true or false',
};

const verbs = z.union(
  [
    z.tuple([z.literal('*')]).transform((): readonly RecordVerb[] => VERBS),
    z
      .array(z.enum(VERBS))
      .min(1)
      .transform((sent): readonly RecordVerb[] => VERBS.filter((verb) => sent.includes(verb))),
  ],
  'Verbs are a list of at least one.',
);

function namesOf(member: string, isName: (name: string) => boolean) {
  const isNone = `This is not one of the ${member}.`;
  const isNoList = `The ${member} are a list of at most ${MOST_NAMES} names.`;
  const name = z.string(isNone).refine((given) => given === '*' || isName(given), isNone);
  return z
    .array(z.unknown(), isNoList)
    .max(MOST_NAMES, isNoList)
    .pipe(z.array(name))
    .transform((names): readonly string[] => [...new Set(names)])
    .default([]);
}

function scopesOf({ isCollection, isReport }: ScopeNames) {
  const collection = z.string().refine((name) => name === '*' || isCollection(name));
  const isNoTable = `Collections are an object of at most ${MOST_NAMES} names, each with its verbs.`;
  const members = {
    collections: z
      .record(z.string(), z.unknown(), isNoTable)
      .refine((given) => Object.keys(given).length <= MOST_NAMES, isNoTable)
      .pipe(z.record(collection, verbs))
      .default({}),
    reports: namesOf('reports', isReport),
    scripts: namesOf('scripts', (name) => SCRIPT_NAME.test(name)),
    accounts: z.boolean('The scope "accounts" is true or false.').optional(),
  };
  return z.strictObject(members, 'Scopes are an object.');
}

/**
 * Reads the scopes of an API key.
 *
 *   { collections: { <name> | "*": [<verb> …] | ["*"] },
 *     reports: [<name> …] | ["*"],
 *     scripts: [<name> …] | ["*"],
 *     accounts: true }
 *
 * Verbs are read, create, update, delete. A member that is absent allows nothing. With `accounts`, an admin's
 * key may change who may log in and with which rights, which no verb and no `*` includes.
 *
 * @throws INVALID_VALUE (400) naming every fault by its JSON pointer, below `/scopes`
 */
export function parseKeyScopes(written: unknown, names: ScopeNames): KeyScopes {
  const parsed = scopesOf(names).safeParse(written, { reportInput: true });
  if (parsed.success) {
    const { accounts, ...scopes } = parsed.data;
    return accounts ? { ...scopes, accounts } : scopes;
  }
  throw new ServiceError('INVALID_VALUE', 'The scopes of the API key are not valid.', {
    errors: parsed.error.issues.flatMap(toDetails),
  });
}

function toDetails(issue: z.core.$ZodIssue): readonly ErrorDetail[] {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
  return unknown.map((name) => {
    const path = [...issue.path, ...(name === undefined ? [] : [name])].map(String);
    const [member = ''] = path;
    const expected = EXPECTED[member] ?? Object.keys(EXPECTED).join(', ');
    const unknownThing = name === undefined ? 'collection' : 'scope';
    const isUnknown = name !== undefined || issue.code === 'invalid_key';
    const detail = isUnknown ? `There is no ${unknownThing} "${path.at(-1)}".` : issue.message;
    const pointer = ['/scopes', ...path.map(pointerStep)].join('/');
    return { pointer, detail, expected, ...(issue.path.length > 1 && { sent: issue.input }) };
  });
}

export interface Delegation {
  readonly roles: readonly string[];
  readonly scopes: KeyScopes;
}

/**
 * Restricts a principal to the roles and scopes that both allow. When the principal loses a right, so does
 * the result. `part` distinguishes it from other parts of the same principal.
 */
export function narrowPrincipal(
  principal: Principal,
  { roles, scopes, part }: Delegation & { readonly part: string },
): Principal {
  return {
    ...principal,
    credential: { ...principal.credential, part },
    roles: new Set(roles.filter((role) => principal.roles.has(role))),
    scopes: principal.scopes === undefined ? scopes : intersectScopes(principal.scopes, scopes),
  };
}

/** The intersection of two scopes. */
export function intersectScopes(one: KeyScopes, other: KeyScopes): KeyScopes {
  const names = new Set([...Object.keys(one.collections), ...Object.keys(other.collections)]);
  const collections = [...names].map((name): [string, readonly RecordVerb[]] => {
    const allowed = verbsOf(other, name);
    return [name, verbsOf(one, name).filter((verb) => allowed.includes(verb))];
  });
  return {
    collections: Object.fromEntries(collections.filter(([, verbs]) => verbs.length > 0)),
    reports: intersectNames(one.reports, other.reports),
    scripts: intersectNames(one.scripts, other.scripts),
    ...(one.accounts === true && other.accounts === true && { accounts: true }),
  };
}

function verbsOf({ collections }: KeyScopes, name: string): readonly RecordVerb[] {
  const own = Object.hasOwn(collections, name) ? collections[name] : undefined;
  const every = Object.hasOwn(collections, '*') ? collections['*'] : undefined;
  return [...new Set([...(own ?? []), ...(every ?? [])])];
}

function intersectNames(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one.includes('*')) return other;
  if (other.includes('*')) return one;
  return one.filter((name) => other.includes(name));
}
