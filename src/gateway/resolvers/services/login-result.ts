/** The types of credentials in GraphQL. */

import {
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { KeyAccessInput } from './key-access-input.js';

const LoginUser = objectType('User', 'The user of a credential.', {
  id: member.id('The id of the record in `pltf_user`.'),
  userName: member.text('The login name.'),
  name: member.text('The full name.'),
  roles: member.texts('The roles of the user, e.g. "teacher".'),
  domain: member.text('The id of the domain the credential belongs to.'),
});

export const LoginResult = objectType('Login', 'A pair of tokens.', {
  accessToken: member.text('Send it with every request: `Authorization: Bearer <accessToken>`.'),
  expiresInSeconds: member.whole('How long the access token lives. Unit: seconds.'),
  refreshToken: nullable.text('Gives a new pair of tokens, once. Null for an API key that was exchanged.'),
  user: member.of(LoginUser, 'The user of the tokens.'),
});

export const ApiKeyResult = objectType('ApiKey', 'An API key as its owner sees it: never the key itself.', {
  id: member.id('Names the key, e.g. to revoke it.'),
  name: member.text('What its owner calls it.'),
  prefix: member.text('The beginning of the key, to recognize it by.'),
  userId: member.id('The user it acts as.'),
  scopes: member.anyJson(
    'Its scope: {collections: {name or *: [verbs]}, reports: [names], scripts: [names]}.',
  ),
  createdBy: member.id('The user who made it.'),
  createdAt: member.instant('When it was made.'),
  expiresAt: nullable.instant('When it stops working; null: never.'),
  lastUsedAt: nullable.instant('When it was last used, to the minute.'),
  lastUsedAddress: nullable.text('The IP address of its last use; null if unknown.'),
  allowedAddresses: member.texts('The addresses and networks it may be used from; empty: from everywhere.'),
  replaces: nullable.id('The key that this one replaces, by `rotateApiKey`.'),
  revokedAt: nullable.instant('When it was revoked; null while it works.'),
});

export const NewApiKeyResult = objectType('NewApiKey', 'An API key that was just made.', {
  id: member.id('Names the key, e.g. to revoke it.'),
  key: member.text('The key. It is shown here and never again.'),
});
export type NewApiKeyResult = ValueOf<typeof NewApiKeyResult>;

export const CreateApiKeyInput = inputType('CreateApiKeyInput', 'The name and scope of a new API key.', {
  name: member.text('What you call it, 1 to 100 characters.'),
  access: nullable.of(
    KeyAccessInput,
    'What it may do, within your own rights. Either this or `scopes` is required.',
  ),
  scopes: nullable.anyJson(
    'The same as JSON: {collections: {"attendance": ["read"], "*": ["read"]}, ' +
      'reports: ["fee-defaulters"], scripts: []}.',
  ),
  userId: nullable.id('The user it acts as; left out: you. Another one only for admins.'),
  expiresAt: nullable.isoInstant('When it stops working; left out: never.'),
  allowedAddresses: nullable.texts(
    'The addresses and networks it may be used from, e.g. ["203.0.113.7", "2001:db8::/32"], at most 50; ' +
      'left out: from everywhere.',
  ),
});
export type CreateApiKeyInput = ValueOf<typeof CreateApiKeyInput>;
