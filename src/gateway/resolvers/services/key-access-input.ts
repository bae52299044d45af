/** The typed rights of an API key: presets and lists, instead of the JSON of `scopes`. */

import { registerEnumType } from 'type-graphql';
import type { KeyScopes, RecordVerb } from '../../../base/model/scope.js';
import { inputType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';

const KEY_VERBS = {
  READ: 'read',
  CREATE: 'create',
  UPDATE: 'update',
  DELETE: 'delete',
} as const satisfies Readonly<Record<string, RecordVerb>>;

const KEY_PRESETS = {
  READ_ONLY: 'READ_ONLY',
  READ_WRITE: 'READ_WRITE',
  REPORTS: 'REPORTS',
} as const;

type KeyPreset = keyof typeof KEY_PRESETS;

registerEnumType(KEY_VERBS, {
  name: 'KeyVerb',
  description: 'What an API key may do with records.',
  valuesConfig: {
    READ: { description: 'Read records, and be told of their changes.' },
    CREATE: { description: 'Make new records.' },
    UPDATE: { description: 'Change and replace records.' },
    DELETE: { description: 'Remove records.' },
  },
});

registerEnumType(KEY_PRESETS, {
  name: 'KeyPreset',
  description: 'Common scopes of API keys, each limited by the rights of its user.',
  valuesConfig: {
    READ_ONLY: { description: 'Read the records of every collection, and run every report.' },
    READ_WRITE: {
      description:
        'Read and write the records of every collection, and run every report. Accounts are not included: ' +
        'see `accounts`.',
    },
    REPORTS: { description: 'Run every report, and nothing else.' },
  },
});

const KeyCollectionInput = inputType(
  'KeyCollectionInput',
  'What an API key may do with the records of a collection.',
  {
    collection: member.text('The collection, e.g. "attendance"; "*": every one.'),
    verbs: member.list(KEY_VERBS, 'At least one.'),
  },
);

export const KeyAccessInput = inputType(
  'KeyAccessInput',
  'What an API key may do: all that a preset says, and what is listed beside.',
  {
    preset: nullable.of(KEY_PRESETS, 'To begin with.'),
    collections: nullable.list(KeyCollectionInput, 'Collections, each with its verbs.'),
    reports: nullable.texts('Reports by their names; "*": every one.'),
    scripts: nullable.texts('Scripts by their names; "*": every one.'),
    accounts: nullable.flag(
      'Whether the key of an admin may change accounts: user names, email addresses, roles, and who may ' +
        'log in. Such a key can make admins. No preset and no "*" includes it. Default: false.',
    ),
  },
);
export type KeyAccessInput = ValueOf<typeof KeyAccessInput>;

const EVERY_VERB: readonly RecordVerb[] = Object.values(KEY_VERBS);

const SCOPES_OF_PRESETS: Readonly<Record<KeyPreset, KeyScopes>> = {
  READ_ONLY: { collections: { '*': ['read'] }, reports: ['*'], scripts: [] },
  READ_WRITE: { collections: { '*': EVERY_VERB }, reports: ['*'], scripts: [] },
  REPORTS: { collections: {}, reports: ['*'], scripts: [] },
};

/** Converts to the form of `scopes`, not validated yet. */
export function scopesOfAccess({
  preset,
  collections,
  reports,
  scripts,
  accounts,
}: KeyAccessInput): KeyScopes {
  const given = preset == null ? undefined : SCOPES_OF_PRESETS[preset];
  const verbs = new Map<string, readonly RecordVerb[]>(Object.entries(given?.collections ?? {}));
  for (const { collection, verbs: more } of collections ?? [])
    verbs.set(collection, [...new Set([...(verbs.get(collection) ?? []), ...more])]);
  return {
    collections: Object.fromEntries(verbs),
    reports: [...(given?.reports ?? []), ...(reports ?? [])],
    scripts: [...(given?.scripts ?? []), ...(scripts ?? [])],
    ...(accounts === true && { accounts }),
  };
}
