/** The door to the administration of users, to sessions, and to links that set a password. */

import { z } from 'zod';
import { invalidAt } from '../../../base/errors.js';
import { inputType, member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { AccountLinks } from '../../../services/auth/account-links.js';
import type { Sessions } from '../../../services/auth/sessions.js';
import type { ListedUser, UserPlace, Users } from '../../../services/auth/users.js';
import { withPlaces } from '../../../store/database/keyset.js';
import { connectionType, toConnection } from '../connection.js';
import { PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';
import { CollectionRightsResult, OperationRightResult, ReportRightResult } from './caller-resolver.js';
import { callerRights, type RightsSources } from './caller-rights.js';

const AccountResult = objectType('Account', 'A member of staff who may log in, as an admin manages it.', {
  id: member.id('The id of the record in `pltf_user`.'),
  userName: member.text('The login name.'),
  name: member.text('The full name.'),
  email: nullable.text('The address that links are mailed to.'),
  roles: member.texts('The roles.'),
  isActive: member.flag('Whether the user may log in.'),
  hasPassword: member.flag('Whether a password was ever set; if not, the user is still invited.'),
  hasSecondFactor: member.flag('Whether a second factor is on, so that a log-in needs its code.'),
  lastLoginAt: nullable.instant('When the user logged in last, as far as is kept.'),
  lockedUntil: nullable.instant(
    'Until when log-ins are refused after too many failed ones, at one address at least; null if they ' +
      'are not.',
  ),
  version: member.whole(
    'The version of the record. Send it as `ifVersion` to change nothing that was changed meanwhile.',
  ),
});

const AccountConnection = connectionType('Account', AccountResult, {
  page: 'A page of users, by user name.',
  one: 'A user',
  many: 'The users',
  isCounted: true,
});

const InviteUserInput = inputType('InviteUserInput', 'The user to invite.', {
  userName: member.text('The login name, unique in the domain.'),
  name: member.text('The full name.'),
  roles: member.texts('The roles, e.g. ["teacher"].'),
  email: nullable.text('Where the link is mailed to.'),
});

const SentLinkResult = objectType('SentLink', 'A link by which a user sets a password, once, on its way.', {
  userId: member.id('The user it is for.'),
  expiresAt: member.instant('When it expires.'),
  link: nullable.text(
    'The link, to hand over; shown here and never again. Without PUBLIC_URL it begins with the path. ' +
      'Null: it was mailed.',
  ),
});

const AccountLinkResult = objectType('AccountLink', 'What a link that sets a password is for.', {
  purpose: member.text('`invite` or `reset`.'),
  userName: member.text('The login name.'),
  name: member.text('The full name.'),
  domainId: member.id('The `domain` to log in with.'),
  domainName: member.text('The school.'),
  expiresAt: member.instant('When it expires.'),
});

const SessionResult = objectType('Session', 'An open session.', {
  id: member.id('The id to pass to `endSession`.'),
  userId: member.id('Its user.'),
  createdAt: member.instant('When the user logged in.'),
  lastSeenAt: nullable.instant('When its tokens were refreshed last; null: not yet.'),
  expiresAt: member.instant('When it ends, unless it is refreshed.'),
  address: nullable.text('The IP address of the login.'),
  userAgent: nullable.text('The user agent of the login.'),
  isCurrent: member.flag('Whether it is the session of this request.'),
});

const UserRightsResult = objectType('UserRights', 'What a user may do, as the server decides it.', {
  collections: member.list(CollectionRightsResult, 'The collections in reach, by name.'),
  reports: member.list(ReportRightResult, 'The reports the user may run.'),
  operations: member.list(OperationRightResult, 'The operations of the library that are for the user.'),
  duties: member.texts('The areas that the user manages, as in `me`.'),
});

const ONLY_OVER = 'Change it only if the user still has this version.';

export interface UserResolverServices extends RightsSources {
  readonly users: Users;
  readonly accountLinks: AccountLinks;
  readonly sessions: Sessions;
  readonly pages: PageSizes;
}

export const UserResolver = serviceResolver(
  ({ query, mutation, done, openQuery, openMutation }: FieldRows<UserResolverServices>) => ({
    accounts: query(
      member.of(AccountConnection, 'The users of this domain, by user name. For admins.'),
      {
        ...PAGE_ARGUMENTS,
        search: nullable.text('A part of the user name, the name or the email address, ignoring case.'),
        isActive: nullable.flag('Only users who may log in, or only users who may not.'),
        role: nullable.text('Only users with this role.'),
      },
      async ({ users, pages }, scope, sent) => {
        const { search, isActive, role } = sent;
        const filter = { search, isActive, role };
        const page = withPlaces(toPageRequest(sent, pages), parsePlace);
        const found = await users.page(scope, { filter, ...page });
        return {
          ...toConnection(found, { toNode: (user) => user, cursorOf: printPlace }),
          totalCount: () => users.count(scope, filter),
        };
      },
    ),
    account: query(
      member.of(AccountResult, 'One user of this domain. For admins. Errors: NOT_FOUND.'),
      { id: member.id('The id of the record in `pltf_user`.') },
      ({ users }, scope, { id }) => users.get(scope, id),
    ),
    roleNames: query(
      member.texts('All roles: those in declarations and those of users. For admins.'),
      {},
      ({ users }, scope) => users.roleNames(scope),
    ),
    userRights: query(
      member.of(
        UserRightsResult,
        'What another user may do, by the same rules that allow or refuse it. For admins. Errors: NOT_FOUND.',
      ),
      { userId: member.id('The id of an active user of this domain.') },
      async (services, scope, { userId }) => {
        const principal = await services.users.principalOf(scope, { id: userId });
        return callerRights({ ...scope, principal }, services);
      },
    ),
    inviteUser: mutation(
      member.of(
        SentLinkResult,
        'Adds a user who sets a password by a link, which is mailed where there is an address, a mail ' +
          'server and PUBLIC_URL, and is otherwise in the answer. For admins. Errors: CONFLICT when the ' +
          'user name is taken, INVALID_VALUE.',
      ),
      { data: member.of(InviteUserInput, 'The new user.') },
      ({ accountLinks }, scope, { data }) => accountLinks.invite(scope, given(data)),
    ),
    sendAccountLink: mutation(
      member.of(
        SentLinkResult,
        'Makes a link by which the user sets a new password, or again the first one; earlier links end. ' +
          'For admins. Errors: NOT_FOUND, CONFLICT for a user who is not active.',
      ),
      { userId: member.id('The user.') },
      ({ accountLinks }, scope, { userId }) => accountLinks.sendLink(scope, userId),
    ),
    accountLink: openQuery(
      member.of(
        AccountLinkResult,
        'The purpose of a link. Needs no credential but the link. Errors: NOT_FOUND.',
      ),
      { token: member.text('The part after # of the link.') },
      ({ accountLinks }, _context, { token }) => accountLinks.open(token),
    ),
    useAccountLink: openMutation(
      member.flag(
        'Sets the password of the user a link is for, and ends its sessions. Needs no credential but the ' +
          'link. Errors: NOT_FOUND for a link that was used, has expired or was replaced, INVALID_VALUE.',
      ),
      { token: member.text('The part after # of the link.'), password: member.text('The new password.') },
      async ({ accountLinks }, context, { token, password }) => {
        await accountLinks.use(token, password, context.requestId);
        return true;
      },
    ),
    setUserRoles: mutation(
      member.of(
        AccountResult,
        'Gives a user other roles, at once on every gateway. For admins. Errors: NOT_FOUND, INVALID_VALUE, ' +
          'CONFLICT where no admin would be left, VERSION_CONFLICT.',
      ),
      {
        userId: member.id('The user.'),
        roles: member.texts('The complete new list.'),
        ifVersion: nullable.whole(ONLY_OVER),
      },
      ({ users }, scope, { userId, ...change }) => users.setRoles(scope, userId, change),
    ),
    setUserActive: mutation(
      member.of(
        AccountResult,
        'Allows or forbids a user to log in. Forbidding it ends the sessions and suspends the' +
          ' API keys of the user, at once on every gateway. For admins. Errors: NOT_FOUND, ' +
          'CONFLICT if no admin would be left, VERSION_CONFLICT.',
      ),
      {
        userId: member.id('The user.'),
        isActive: member.flag('Whether the user may log in.'),
        ifVersion: nullable.whole(ONLY_OVER),
      },
      ({ users }, scope, { userId, ...change }) => users.setActive(scope, userId, change),
    ),
    unlockUser: mutation(
      member.of(
        AccountResult,
        'Ends the lock-out of a user after too many failed log-ins, at all addresses. For admins. ' +
          'Errors: NOT_FOUND.',
      ),
      { userId: member.id('The user.') },
      ({ users }, scope, { userId }) => users.unlock(scope, userId),
    ),
    sessions: query(
      member.list(
        SessionResult,
        'The open sessions, the newest first, at most 200: yours, or for an admin those of a ' + 'user.',
      ),
      { userId: nullable.id('The user; left out: you.') },
      ({ sessions }, scope, { userId }) => sessions.list(scope, userId),
    ),
    endSession: done(
      'Ends a session of yours, or for an admin of the domain, on every gateway. Errors: NOT_FOUND.',
      { id: member.id('The session.') },
      ({ sessions }, scope, { id }) => sessions.endOne(scope, id),
    ),
    endSessions: mutation(
      member.whole(
        'Ends all your sessions, or for an admin those of a user, on every gateway, and returns how many. ' +
          'API keys stay valid.',
      ),
      {
        userId: nullable.id('The user; left out: you.'),
        keepCurrent: nullable.flag('Whether to keep the session of this request. Default: true.'),
      },
      ({ sessions }, scope, { userId, keepCurrent }) =>
        sessions.endAll(scope, { userId, which: keepCurrent === false ? 'all' : 'others' }),
    ),
  }),
);

const placeSchema = z.tuple([z.string(), z.string()]);

function printPlace({ userName, id }: ListedUser): string {
  return Buffer.from(JSON.stringify([userName, id])).toString('base64url');
}

/** @throws INVALID_VALUE (400) */
function parsePlace(cursor: string, parameter: string): UserPlace {
  try {
    const [userName, id] = placeSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { userName, id };
  } catch {
    const detail = `${parameter} is a cursor of a page of accounts.`;
    throw invalidAt(detail, { parameter });
  }
}
