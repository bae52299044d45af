/** The types of credentials in GraphQL. */
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import type { KeyScopes } from '../../../base/model/scope.js';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { KeyAccessInput } from './key-access-input.js';

@ObjectType('User', { description: 'The user of a credential.', simpleResolvers: true })
export class LoginUser {
  @Field(() => ID, { description: 'The id of the record in `pltf_user`.' })
  readonly id!: string;

  @Field(() => String, { description: 'The login name.' })
  readonly userName!: string;

  @Field(() => String, { description: 'The full name.' })
  readonly name!: string;

  @Field(() => [String], { description: 'The roles of the user, e.g. "teacher".' })
  readonly roles!: readonly string[];

  @Field(() => String, { description: 'The id of the domain the credential belongs to.' })
  readonly domain!: string;
}

@ObjectType('Login', { description: 'A pair of tokens.', simpleResolvers: true })
export class LoginResult {
  @Field(() => String, { description: 'Send it with every request: `Authorization: Bearer <accessToken>`.' })
  readonly accessToken!: string;

  @Field(() => Int, { description: 'How long the access token lives. Unit: seconds.' })
  readonly expiresInSeconds!: number;

  @Field(() => String, {
    nullable: true,
    description: 'Gives a new pair of tokens, once. Null for an API key that was exchanged.',
  })
  readonly refreshToken!: string | undefined;

  @Field(() => LoginUser, { description: 'The user of the tokens.' })
  readonly user!: LoginUser;
}

@ObjectType('ApiKey', {
  description: 'An API key as its owner sees it: never the key itself.',
  simpleResolvers: true,
})
export class ApiKeyResult {
  @Field(() => ID, { description: 'Names the key, e.g. to revoke it.' })
  readonly id!: string;

  @Field(() => String, { description: 'What its owner calls it.' })
  readonly name!: string;

  @Field(() => String, { description: 'The beginning of the key, to recognize it by.' })
  readonly prefix!: string;

  @Field(() => ID, { description: 'The user it acts as.' })
  readonly userId!: string;

  @Field(() => GraphqlJsonScalar, {
    description: 'Its scope: {collections: {name or *: [verbs]}, reports: [names], scripts: [names]}.',
  })
  readonly scopes!: KeyScopes;

  @Field(() => ID, { description: 'The user who made it.' })
  readonly createdBy!: string;

  @Field(() => DateTime, { description: 'When it was made.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it stops working; null: never.' })
  readonly expiresAt!: Date | undefined;

  @Field(() => DateTime, { nullable: true, description: 'When it was last used, to the minute.' })
  readonly lastUsedAt!: Date | undefined;

  @Field(() => String, {
    nullable: true,
    description: 'The IP address of its last use; null if unknown.',
  })
  readonly lastUsedAddress!: string | undefined;

  @Field(() => [String], {
    description: 'The addresses and networks it may be used from; empty: from everywhere.',
  })
  readonly allowedAddresses!: readonly string[];

  @Field(() => ID, { nullable: true, description: 'The key that this one replaces, by `rotateApiKey`.' })
  readonly replaces!: string | undefined;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked; null while it works.' })
  readonly revokedAt!: Date | undefined;
}

@ObjectType('NewApiKey', { description: 'An API key that was just made.', simpleResolvers: true })
export class NewApiKeyResult {
  @Field(() => ID, { description: 'Names the key, e.g. to revoke it.' })
  readonly id!: string;

  @Field(() => String, { description: 'The key. It is shown here and never again.' })
  readonly key!: string;
}

@InputType({ description: 'The name and scope of a new API key.' })
export class CreateApiKeyInput {
  @Field(() => String, { description: 'What you call it, 1 to 100 characters.' })
  readonly name!: string;

  @Field(() => KeyAccessInput, {
    nullable: true,
    description: 'What it may do, within your own rights. Either this or `scopes` is required.',
  })
  readonly access?: KeyAccessInput | null;

  @Field(() => GraphqlJsonScalar, {
    nullable: true,
    description:
      'The same as JSON: {collections: {"attendance": ["read"], "*": ["read"]}, ' +
      'reports: ["fee-defaulters"], scripts: []}.',
  })
  readonly scopes?: unknown;

  @Field(() => ID, {
    nullable: true,
    description: 'The user it acts as; left out: you. Another one only for admins.',
  })
  readonly userId?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it stops working; left out: never.' })
  readonly expiresAt?: string | null;

  @Field(() => [String], {
    nullable: true,
    description:
      'The addresses and networks it may be used from, e.g. ["203.0.113.7", "2001:db8::/32"], at most 50; ' +
      'left out: from everywhere.',
  })
  readonly allowedAddresses?: readonly string[] | null;
}
