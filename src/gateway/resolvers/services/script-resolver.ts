/** The door to scripts: listing, saving and running them, and their results. @see interface 1.1 */

import { Arg, Args, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { argumentsType, member, nullable, type ValueOf } from '../../../base/scalars/declared-type.js';
import type { Script } from '../../../services/scripting/library/script.js';
import type { ScriptRun, ScriptRuns } from '../../../services/scripting/library/script-runs.js';
import type { ScriptOutline, Scripts, ScriptVersion } from '../../../services/scripting/library/scripts.js';
import type { ScriptLog, ScriptLogEntry } from '../../../services/scripting/script-log.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  SaveScriptInput,
  ScriptLogEntryResult,
  ScriptLogLevel,
  ScriptResult,
  ScriptRunResult,
  ScriptRunStatus,
  ScriptVersionResult,
} from './script-result.js';

export interface ScriptResolverServices {
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly scriptLog: ScriptLog;
  readonly pages: PageSizes;
}

const ScriptLogArguments = argumentsType({
  script: nullable.id('Of this script only.'),
  runId: nullable.id('Of this run only.'),
  level: nullable.of(ScriptLogLevel, 'This level and the more severe ones.'),
  first: nullable.whole('The most to return.'),
  before: nullable.id('Only entries older than the one with this id, the last of the previous page.'),
});
type ScriptLogArguments = ValueOf<typeof ScriptLogArguments>;

const RunScriptArguments = argumentsType({
  name: member.id('The script; of `code`, the name that its errors show.'),
  arguments: nullable.json('The value of `args` in the script.'),
  code: nullable.text(
    'Code that is not saved, to run with your rights in place of the stored script. For admins.',
  ),
  dryRun: nullable.flag('Rolls back all that the script writes, and sends none of its messages.'),
});
type RunScriptArguments = ValueOf<typeof RunScriptArguments>;

@Resolver(() => ScriptResult)
export class ScriptResolver {
  readonly #scripts: Scripts;
  readonly #runs: ScriptRuns;
  readonly #log: ScriptLog;
  readonly #pages: PageSizes;

  constructor(services: ScriptResolverServices) {
    this.#scripts = services.scripts;
    this.#runs = services.scriptRuns;
    this.#log = services.scriptLog;
    this.#pages = services.pages;
  }

  @Query(() => [ScriptResult], {
    description: 'The scripts of the domain that you may run, by name; for admins all.',
  })
  scripts(@Ctx() context: RequestContext): readonly ScriptOutline[] {
    return this.#scripts.list(requireScope(context));
  }

  @Query(() => ScriptResult, { description: 'One script. For admins. Errors: NOT_FOUND.' })
  async script(
    @Ctx() context: RequestContext,
    @Arg('name', () => ID, { description: 'Its name.' }) name: string,
  ): Promise<ScriptOutline> {
    return await this.#scripts.get(requireScope(context), name);
  }

  @FieldResolver(() => String, { description: 'The code. For admins.' })
  async code(@Ctx() context: RequestContext, @Root() script: ScriptOutline | Script): Promise<string> {
    if ('code' in script) return script.code;
    return (await this.#scripts.get(requireScope(context), script.name)).code;
  }

  @Query(() => [ScriptVersionResult], {
    description: 'The versions of a script, the newest first, also of one that was removed. For admins.',
  })
  async scriptVersions(
    @Ctx() context: RequestContext,
    @Arg('name', () => ID, { description: 'The script.' }) name: string,
    @Arg('first', () => Int, { nullable: true, description: 'The most to return.' })
    first: number | null | undefined,
  ): Promise<readonly ScriptVersion[]> {
    const { limit } = toPageRequest({ first: first ?? null }, this.#pages);
    return await this.#scripts.versions(requireScope(context), name, limit);
  }

  /** @throws FORBIDDEN, INVALID_VALUE, VERSION_CONFLICT */
  @Mutation(() => ScriptResult, {
    description:
      'Saves a script as a whole, as a new version. For admins. Errors: INVALID_VALUE with line and ' +
      'column where the code cannot be read, VERSION_CONFLICT.',
  })
  async saveScript(
    @Ctx() context: RequestContext,
    @Arg('script', () => SaveScriptInput, { description: 'The script.' }) script: SaveScriptInput,
    @Arg('ifVersion', () => Int, {
      nullable: true,
      description: 'Save it only if the script still has this version; 0: only if no script has this name.',
    })
    ifVersion: number | null | undefined,
  ): Promise<ScriptOutline> {
    return await this.#scripts.save(requireScope(context), withoutNulls(script), ifVersion ?? undefined);
  }

  @Mutation(() => Boolean, {
    description: 'Removes a script. Its versions and runs remain. For admins. Errors: NOT_FOUND.',
  })
  async removeScript(
    @Ctx() context: RequestContext,
    @Arg('name', () => ID, { description: 'Its name.' }) name: string,
  ): Promise<boolean> {
    await this.#scripts.remove(requireScope(context), name);
    return true;
  }

  /** @throws NOT_FOUND, FORBIDDEN */
  @Mutation(() => ScriptRunResult, {
    description:
      'Runs a script and waits for its end. One that fails is a run with `error`. Errors: NOT_FOUND, ' +
      'FORBIDDEN.',
  })
  async runScript(
    @Ctx() context: RequestContext,
    @Args(() => RunScriptArguments) { name, code, dryRun, ...given }: RunScriptArguments,
  ): Promise<ScriptRun> {
    const scope = requireScope(context);
    const options = { cause: 'call', arguments: given.arguments ?? null, isDryRun: dryRun ?? false } as const;
    if (code === null || code === undefined) return await this.#runs.call(scope, name, options);
    return await this.#runs.tryOut(scope, { name, code }, options);
  }

  @Query(() => [ScriptRunResult], {
    description:
      'The runs of scripts, the newest first: yours, for admins all of the domain, for an API key ' +
      'those it started.',
  })
  async scriptRuns(
    @Ctx() context: RequestContext,
    @Arg('script', () => ID, { nullable: true, description: 'Of this script only.' })
    script: string | null | undefined,
    @Arg('status', () => ScriptRunStatus, { nullable: true, description: 'With this outcome only.' })
    status: ScriptRunStatus | null | undefined,
    @Arg('first', () => Int, { nullable: true, description: 'The most to return.' })
    first: number | null | undefined,
    @Arg('before', () => ID, {
      nullable: true,
      description: 'Only runs older than the one with this id: the last of the page before.',
    })
    before: string | null | undefined,
  ): Promise<readonly ScriptRun[]> {
    const { limit } = toPageRequest({ first: first ?? null }, this.#pages);
    return await this.#runs.list(requireScope(context), {
      script: script ?? undefined,
      status: status ?? undefined,
      before: before ?? undefined,
      limit,
    });
  }

  @Query(() => [ScriptLogEntryResult], {
    description:
      'What scripts logged by `platform.log`, the newest first: in your runs, for admins all of the ' +
      'domain, for an API key in those it started.',
  })
  async scriptLog(
    @Ctx() context: RequestContext,
    @Args(() => ScriptLogArguments) { first, ...query }: ScriptLogArguments,
  ): Promise<readonly ScriptLogEntry[]> {
    const { limit } = toPageRequest({ first: first ?? null }, this.#pages);
    return await this.#log.list(requireScope(context), {
      script: query.script ?? undefined,
      runId: query.runId ?? undefined,
      level: query.level ?? undefined,
      before: query.before ?? undefined,
      limit,
    });
  }

  @Query(() => ScriptRunResult, { description: 'One run. Errors: NOT_FOUND.' })
  async scriptRun(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The run.' }) id: string,
  ): Promise<ScriptRun> {
    return await this.#runs.get(requireScope(context), id);
  }
}

/** GraphQL sends null for what a script leaves out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([name, member]) => [name, withoutNulls(member)]),
  );
}
