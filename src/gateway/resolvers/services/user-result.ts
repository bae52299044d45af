/** The types for the administration of users, sessions, and links that set a password. */
import { ArgsType, Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../base/scalars/date-time.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';
import { CollectionRightsResult, OperationRightResult, ReportRightResult } from './caller-result.js';

@ObjectType('Account', {
  description: 'A member of staff who may log in, as an admin looks after it.',
  simpleResolvers: true,
})
export class AccountResult {
  @Field(() => ID, { description: 'The id of the record in `pltf_user`.' })
  readonly id!: string;

  @Field(() => String, { description: 'The login name.' })
  readonly userName!: string;

  @Field(() => String, { description: 'The full name.' })
  readonly name!: string;

  @Field(() => String, { nullable: true, description: 'The address that links are mailed to.' })
  readonly email!: string | undefined;

  @Field(() => [String], { description: 'The roles.' })
  readonly roles!: readonly string[];

  @Field(() => Boolean, { description: 'Whether the user may log in.' })
  readonly isActive!: boolean;

  @Field(() => Boolean, {
    description: 'Whether a password was ever set; if not, the user is still invited.',
  })
  readonly hasPassword!: boolean;

  @Field(() => Boolean, { description: 'Whether a second factor is on, so that a log-in needs its code.' })
  readonly hasSecondFactor!: boolean;

  @Field(() => DateTime, { nullable: true, description: 'When the user logged in last, as far as is kept.' })
  readonly lastLoginAt!: Date | undefined;

  @Field(() => Int, {
    description: 'Of the record. Send it as `ifVersion` to change nothing that was changed meanwhile.',
  })
  readonly version!: number;
}

const AccountEdge = edgeType('Account', () => AccountResult, 'A user');

@ObjectType({ description: 'A page of users, by user name.', simpleResolvers: true })
export class AccountConnection {
  @Field(() => [AccountResult], { description: 'The users of the page.' })
  readonly nodes!: readonly AccountResult[];

  @Field(() => [AccountEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<AccountResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;

  @Field(() => Int, { description: 'The total number. Counted only if selected.' })
  readonly totalCount!: number;
}

@ArgsType()
export class AccountsArguments extends PageArguments {
  @Field(() => String, {
    nullable: true,
    description: 'A part of the user name, the name or the email address, ignoring case.',
  })
  readonly search?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'Only users who may log in, or only users who may not.',
  })
  readonly isActive?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Only users with this role.' })
  readonly role?: string | null;
}

@InputType({ description: 'Whom to ask in.' })
export class InviteUserInput {
  @Field(() => String, { description: 'The login name, which nobody else has here.' })
  readonly userName!: string;

  @Field(() => String, { description: 'The full name.' })
  readonly name!: string;

  @Field(() => [String], { description: 'The roles, e.g. ["teacher"].' })
  readonly roles!: readonly string[];

  @Field(() => String, { nullable: true, description: 'Where the link is mailed to.' })
  readonly email?: string | null;
}

@ObjectType('SentLink', {
  description: 'A link by which a user sets a password, once, on its way.',
  simpleResolvers: true,
})
export class SentLinkResult {
  @Field(() => ID, { description: 'The user it is for.' })
  readonly userId!: string;

  @Field(() => DateTime, { description: 'When it expires.' })
  readonly expiresAt!: Date;

  @Field(() => String, {
    nullable: true,
    description:
      'The link, to hand over; shown here and never again. Without PUBLIC_URL it begins with the path. ' +
      'Null: it was mailed.',
  })
  readonly link!: string | undefined;
}

@ObjectType('AccountLink', { description: 'What a link that sets a password is for.', simpleResolvers: true })
export class AccountLinkResult {
  @Field(() => String, { description: '`invite` or `reset`.' })
  readonly purpose!: string;

  @Field(() => String, { description: 'The login name.' })
  readonly userName!: string;

  @Field(() => String, { description: 'The full name.' })
  readonly name!: string;

  @Field(() => ID, { description: 'The `domain` to log in with.' })
  readonly domainId!: string;

  @Field(() => String, { description: 'The school.' })
  readonly domainName!: string;

  @Field(() => DateTime, { description: 'When it expires.' })
  readonly expiresAt!: Date;
}

@ObjectType('Session', { description: 'An open session.', simpleResolvers: true })
export class SessionResult {
  @Field(() => ID, { description: 'The id to pass to `endSession`.' })
  readonly id!: string;

  @Field(() => ID, { description: 'Its user.' })
  readonly userId!: string;

  @Field(() => DateTime, { description: 'When the user logged in.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When its tokens were refreshed last; null: not yet.',
  })
  readonly lastSeenAt!: Date | undefined;

  @Field(() => DateTime, { description: 'When it ends, unless it is refreshed.' })
  readonly expiresAt!: Date;

  @Field(() => String, { nullable: true, description: 'The IP address of the login.' })
  readonly address!: string | undefined;

  @Field(() => String, { nullable: true, description: 'The user agent of the login.' })
  readonly userAgent!: string | undefined;

  @Field(() => Boolean, { description: 'Whether it is the session of this request.' })
  readonly isCurrent!: boolean;
}

@ObjectType('UserRights', {
  description: 'What a user may do, as the server decides it.',
  simpleResolvers: true,
})
export class UserRightsResult {
  @Field(() => [CollectionRightsResult], { description: 'The collections in reach, by name.' })
  readonly collections!: readonly CollectionRightsResult[];

  @Field(() => [ReportRightResult], { description: 'The reports the user may run.' })
  readonly reports!: readonly ReportRightResult[];

  @Field(() => [OperationRightResult], {
    description: 'The operations of the library that are for the user.',
  })
  readonly operations!: readonly OperationRightResult[];

  @Field(() => [String], { description: "What is the user's to look after, as in `me`." })
  readonly duties!: readonly string[];
}
