/** The types for the administration of users, sessions, and links that set a password. */

import {
  argumentsType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { connectionType } from '../connection.js';
import { PAGE_ARGUMENTS } from '../page-arguments.js';
import { CollectionRightsResult, OperationRightResult, ReportRightResult } from './caller-result.js';

export const AccountResult = objectType(
  'Account',
  'A member of staff who may log in, as an admin looks after it.',
  {
    id: member.id('The id of the record in `pltf_user`.'),
    userName: member.text('The login name.'),
    name: member.text('The full name.'),
    email: nullable.text('The address that links are mailed to.'),
    roles: member.texts('The roles.'),
    isActive: member.flag('Whether the user may log in.'),
    hasPassword: member.flag('Whether a password was ever set; if not, the user is still invited.'),
    hasSecondFactor: member.flag('Whether a second factor is on, so that a log-in needs its code.'),
    lastLoginAt: nullable.instant('When the user logged in last, as far as is kept.'),
    version: member.whole(
      'Of the record. Send it as `ifVersion` to change nothing that was changed meanwhile.',
    ),
  },
);
export type AccountResult = ValueOf<typeof AccountResult>;

export const AccountConnection = connectionType('Account', AccountResult, {
  page: 'A page of users, by user name.',
  one: 'A user',
  many: 'The users',
  isCounted: true,
});

export const AccountsArguments = argumentsType({
  ...PAGE_ARGUMENTS,
  search: nullable.text('A part of the user name, the name or the email address, ignoring case.'),
  isActive: nullable.flag('Only users who may log in, or only users who may not.'),
  role: nullable.text('Only users with this role.'),
});
export type AccountsArguments = ValueOf<typeof AccountsArguments>;

export const InviteUserInput = inputType('InviteUserInput', 'Whom to ask in.', {
  userName: member.text('The login name, which nobody else has here.'),
  name: member.text('The full name.'),
  roles: member.texts('The roles, e.g. ["teacher"].'),
  email: nullable.text('Where the link is mailed to.'),
});
export type InviteUserInput = ValueOf<typeof InviteUserInput>;

export const SentLinkResult = objectType(
  'SentLink',
  'A link by which a user sets a password, once, on its way.',
  {
    userId: member.id('The user it is for.'),
    expiresAt: member.instant('When it expires.'),
    link: nullable.text(
      'The link, to hand over; shown here and never again. Without PUBLIC_URL it begins with the path. ' +
        'Null: it was mailed.',
    ),
  },
);

export const AccountLinkResult = objectType('AccountLink', 'What a link that sets a password is for.', {
  purpose: member.text('`invite` or `reset`.'),
  userName: member.text('The login name.'),
  name: member.text('The full name.'),
  domainId: member.id('The `domain` to log in with.'),
  domainName: member.text('The school.'),
  expiresAt: member.instant('When it expires.'),
});

export const SessionResult = objectType('Session', 'An open session.', {
  id: member.id('The id to pass to `endSession`.'),
  userId: member.id('Its user.'),
  createdAt: member.instant('When the user logged in.'),
  lastSeenAt: nullable.instant('When its tokens were refreshed last; null: not yet.'),
  expiresAt: member.instant('When it ends, unless it is refreshed.'),
  address: nullable.text('The IP address of the login.'),
  userAgent: nullable.text('The user agent of the login.'),
  isCurrent: member.flag('Whether it is the session of this request.'),
});

export const UserRightsResult = objectType('UserRights', 'What a user may do, as the server decides it.', {
  collections: member.list(CollectionRightsResult, 'The collections in reach, by name.'),
  reports: member.list(ReportRightResult, 'The reports the user may run.'),
  operations: member.list(OperationRightResult, 'The operations of the library that are for the user.'),
  duties: member.texts("What is the user's to look after, as in `me`."),
});
export type UserRightsResult = ValueOf<typeof UserRightsResult>;
