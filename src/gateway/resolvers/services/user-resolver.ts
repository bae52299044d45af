/** The door to the administration of users, to sessions, and to links that set a password. */
import { Arg, Args, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { ServiceError } from '../../../base/errors.js';
import type { AccountLinks, OpenedLink } from '../../../services/auth/account-links.js';
import type { Invitations, SentLink } from '../../../services/auth/invitations.js';
import type { ListedSession, SessionAdmin } from '../../../services/auth/session-admin.js';
import type { ListedUser, UserPlace, Users } from '../../../services/auth/users.js';
import { withPlaces } from '../../../store/database/keyset.js';
import { type CountedConnection, toConnection } from '../connection.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import { CallerRights, type RightsSources } from './caller-rights.js';
import {
  AccountConnection,
  AccountLinkResult,
  AccountResult,
  AccountsArguments,
  InviteUserInput,
  SentLinkResult,
  SessionResult,
  UserRightsResult,
} from './user-result.js';

const ONLY_OVER = 'Change it only if the user still has this version.';

export interface UserResolverServices extends RightsSources {
  readonly users: Users;
  readonly invitations: Invitations;
  readonly accountLinks: AccountLinks;
  readonly sessionAdmin: SessionAdmin;
  readonly pages: PageSizes;
}

@Resolver()
export class UserResolver {
  readonly #services: UserResolverServices;

  constructor(services: UserResolverServices) {
    this.#services = services;
  }

  @Query(() => AccountConnection, { description: 'The users of this domain, by user name. For admins.' })
  async accounts(
    @Ctx() context: RequestContext,
    @Args(() => AccountsArguments) sent: AccountsArguments,
  ): Promise<CountedConnection<ListedUser>> {
    const scope = requireScope(context);
    const { users, pages } = this.#services;
    const filter = {
      search: sent.search ?? undefined,
      isActive: sent.isActive ?? undefined,
      role: sent.role ?? undefined,
    };
    const page = withPlaces(toPageRequest(sent, pages), parsePlace);
    const found = await users.page(scope, { filter, ...page });
    return {
      ...toConnection(found, { toNode: (user) => user, cursorOf: printPlace }),
      totalCount: () => users.count(scope, filter),
    };
  }

  @Query(() => AccountResult, {
    description: 'One user of this domain. For admins. Errors: NOT_FOUND.',
  })
  async account(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The id of the record in `pltf_user`.' }) id: string,
  ): Promise<ListedUser> {
    return await this.#services.users.get(requireScope(context), id);
  }

  @Query(() => [String], {
    description: 'All roles: those in declarations and those of users. For admins.',
  })
  async roleNames(@Ctx() context: RequestContext): Promise<readonly string[]> {
    return await this.#services.users.roleNames(requireScope(context));
  }

  @Query(() => UserRightsResult, {
    description: 'What another user may do, found out by asking as that user. For admins. Errors: NOT_FOUND.',
  })
  async userRights(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { description: 'The id of an active user of this domain.' }) userId: string,
  ): Promise<UserRightsResult> {
    const scope = requireScope(context);
    const principal = await this.#services.users.principalOf(scope, { id: userId });
    return new CallerRights({ ...scope, principal }, this.#services);
  }

  @Mutation(() => SentLinkResult, {
    description:
      'Adds a user who sets a password by a link, which is mailed where there is an address, a mail server ' +
      'and PUBLIC_URL, and is otherwise in the answer. For admins. Errors: CONFLICT when the user name is ' +
      'taken, INVALID_VALUE.',
  })
  async inviteUser(
    @Ctx() context: RequestContext,
    @Arg('data', () => InviteUserInput, { description: 'The new user.' }) data: InviteUserInput,
  ): Promise<SentLink> {
    return await this.#services.invitations.invite(requireScope(context), {
      ...data,
      email: data.email ?? undefined,
    });
  }

  @Mutation(() => SentLinkResult, {
    description:
      'Makes a link by which the user sets a new password, or again the first one; earlier links end. For ' +
      'admins. Errors: NOT_FOUND, CONFLICT for a user who is not active.',
  })
  async sendAccountLink(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
  ): Promise<SentLink> {
    return await this.#services.invitations.sendLink(requireScope(context), userId);
  }

  @Query(() => AccountLinkResult, {
    description: 'What a link is for. Needs no credential but the link. Errors: NOT_FOUND.',
  })
  async accountLink(
    @Ctx() _context: RequestContext,
    @Arg('token', () => String, { description: 'The part after # of the link.' }) token: string,
  ): Promise<OpenedLink> {
    return await this.#services.accountLinks.open(token);
  }

  @Mutation(() => Boolean, {
    description:
      'Sets the password of the user a link is for, and ends its sessions. Needs no credential but the ' +
      'link. Errors: NOT_FOUND for a link that was used, has expired or was replaced, INVALID_VALUE.',
  })
  async useAccountLink(
    @Ctx() context: RequestContext,
    @Arg('token', () => String, { description: 'The part after # of the link.' }) token: string,
    @Arg('password', () => String, { description: 'The new password.' }) password: string,
  ): Promise<boolean> {
    await this.#services.accountLinks.use(token, password, context.requestId);
    return true;
  }

  @Mutation(() => AccountResult, {
    description:
      'Gives a user other roles, at once on every gateway. For admins. Errors: NOT_FOUND, INVALID_VALUE, ' +
      'CONFLICT where no admin would be left, VERSION_CONFLICT.',
  })
  async setUserRoles(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Arg('roles', () => [String], { description: 'The complete new list.' }) roles: readonly string[],
    @Arg('ifVersion', () => Int, { nullable: true, description: ONLY_OVER }) ifVersion: number | null,
  ): Promise<ListedUser> {
    const change = { roles, ifVersion: ifVersion ?? undefined };
    return await this.#services.users.setRoles(requireScope(context), userId, change);
  }

  @Mutation(() => AccountResult, {
    description:
      'Allows or forbids a user to log in. Forbidding it ends the sessions and suspends the' +
      ' API keys of the user, at once on every gateway. For admins. Errors: NOT_FOUND, ' +
      'CONFLICT if no admin would be left, VERSION_CONFLICT.',
  })
  async setUserActive(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { description: 'The user.' }) userId: string,
    @Arg('isActive', () => Boolean, { description: 'Whether the user may log in.' }) isActive: boolean,
    @Arg('ifVersion', () => Int, { nullable: true, description: ONLY_OVER }) ifVersion: number | null,
  ): Promise<ListedUser> {
    const change = { isActive, ifVersion: ifVersion ?? undefined };
    return await this.#services.users.setActive(requireScope(context), userId, change);
  }

  @Query(() => [SessionResult], {
    description:
      'The open sessions, the newest first, at most 200: yours, or for an admin those of a ' + 'user.',
  })
  async sessions(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { nullable: true, description: 'The user; left out: you.' })
    userId: string | null | undefined,
  ): Promise<readonly ListedSession[]> {
    return await this.#services.sessionAdmin.list(requireScope(context), userId ?? undefined);
  }

  @Mutation(() => Boolean, {
    description:
      'Ends a session of yours, or for an admin of the domain, on every gateway. Errors: NOT_FOUND.',
  })
  async endSession(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The session.' }) id: string,
  ): Promise<boolean> {
    await this.#services.sessionAdmin.end(requireScope(context), id);
    return true;
  }

  @Mutation(() => Int, {
    description:
      'Ends all sessions of yours, or for an admin those of a user, on every gateway, and says how many. ' +
      'API keys go on.',
  })
  async endSessions(
    @Ctx() context: RequestContext,
    @Arg('userId', () => ID, { nullable: true, description: 'The user; left out: you.' })
    userId: string | null | undefined,
    @Arg('keepCurrent', () => Boolean, {
      nullable: true,
      description: 'Whether to keep the session of this request. Default: true.',
    })
    keepCurrent: boolean | null | undefined,
  ): Promise<number> {
    return await this.#services.sessionAdmin.endAll(requireScope(context), {
      userId: userId ?? undefined,
      which: keepCurrent === false ? 'all' : 'others',
    });
  }
}

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
    throw new ServiceError('INVALID_VALUE', detail, { errors: [{ parameter, detail }] });
  }
}
