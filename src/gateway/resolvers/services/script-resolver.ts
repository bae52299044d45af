/** The door to scripts: listing, saving and running them, and their results. @see interface 1.1 */
import { enumType, inputType, member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { ScriptRuns } from '../../../services/scripting/library/script-runs.js';
import type { Scripts } from '../../../services/scripting/library/scripts.js';
import type { ScriptLog } from '../../../services/scripting/script-log.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, serviceResolver } from '../service-resolver.js';

const ScriptRunStatus = enumType('ScriptRunStatus', 'The state of a run of a script.', {
  running: 'It is running.',
  succeeded: 'It returned a value.',
  failed: 'It threw an error, met a limit, or was ended with its gateway.',
});

const ScriptWrite = enumType('ScriptWrite', 'A kind of write that starts a script.', {
  create: 'A record is stored.',
  update: 'A record is changed.',
  delete: 'A record is removed.',
});

const ScriptEndpointAccess = enumType('ScriptEndpointAccess', 'Who may call the HTTP endpoint of a script.', {
  public: 'Anybody, without a credential.',
  caller: 'Callers who may run the script.',
});

const ScriptTriggerResult = objectType('ScriptTrigger', 'The writes of a collection that start a script.', {
  collection: member.text('The collection, e.g. "fee_receipt".'),
  operations: member.list(ScriptWrite, 'Which writes.'),
});

const ScriptEndpointResult = objectType('ScriptEndpoint', 'The address `/x/<name>` of a script.', {
  access: member.of(ScriptEndpointAccess, 'Who may call it.'),
  methods: member.texts('The methods it answers, e.g. ["GET", "POST"].'),
});

const ScriptResult = objectType('Script', 'A script of the school.', {
  name: member.id('Its name: what `runScript` and `POST /scripts/<name>/run` take.'),
  version: member.whole('Goes up by one each time it is saved.'),
  description: member.text('What it is for.'),
  isEnabled: member.flag('Whether it may run.'),
  roles: member.texts('The roles that may run it, in addition to admins.'),
  serviceRoles: nullable.texts('The roles it runs with; null: it runs as its caller.'),
  before: member.list(ScriptTriggerResult, 'The writes it may change or refuse.'),
  after: member.list(ScriptTriggerResult, 'The writes it runs after, once they are committed.'),
  schedule: nullable.text(
    'When it runs by itself: minute, hour, day, month, weekday, in the time zone of the domain, ' +
      'e.g. "30 20 * * *".',
  ),
  topics: member.texts('The topics whose messages start it.'),
  endpoint: nullable.of(ScriptEndpointResult, 'Its address, if it has one.'),
  owner: member.id('The user who saved it first.'),
  createdAt: member.instant('When it was saved first.'),
  updatedAt: member.instant('When it was saved last.'),
  updatedBy: member.id('The user who saved it last.'),
  code: member.text('The code. For admins.'),
});

const ScriptVersionResult = objectType('ScriptVersion', 'A script as it was saved once.', {
  version: member.whole('Which version.'),
  code: member.text('The code.'),
  description: member.text('What it was for.'),
  savedAt: member.instant('When it was saved.'),
  savedBy: member.id('The user who saved it.'),
});

const ScriptOutputLineResult = objectType('ScriptOutputLine', 'A line a script printed.', {
  at: member.instant('When it happened.'),
  level: member.text('debug, info, warn or error.'),
  text: member.text('The printed text.'),
});

const ScriptErrorResult = objectType('ScriptError', 'Why a run failed.', {
  name: member.text('The class of the error, e.g. "TypeError".'),
  message: member.text('The text of the error.'),
  code: nullable.text('The code of an error of the gateway, e.g. "FORBIDDEN"; null: of the script.'),
  limit: nullable.text('The limit the script ran into, e.g. "cpuTime".'),
  script: member.text('The script it happened in.'),
  line: nullable.whole('The line, from 1.'),
  column: nullable.whole('The column, from 1.'),
  stack: member.text('The calls that led there, one a line.'),
});

const ScriptRunResult = objectType('ScriptRun', 'A run of a script and its result.', {
  id: member.id('The run.'),
  script: member.text('The script.'),
  version: nullable.whole('Its version; null: the code came with the request.'),
  cause: member.text(
    'What started it: call, script, commandLine, endpoint, schedule, topic, before or after (a write).',
  ),
  principal: member.id('The user it ran as, or `script:<name>` with service roles.'),
  status: member.of(ScriptRunStatus, 'Its state.'),
  startedAt: member.instant('When it was started.'),
  endedAt: nullable.instant('When it ended; null while it runs.'),
  cpuMs: nullable.number('Processor time. Unit: milliseconds.'),
  memoryBytes: nullable.number('The most memory it held. Unit: bytes.'),
  hostCalls: nullable.whole('The number of calls to the gateway.'),
  value: nullable.json('The returned value.'),
  error: nullable.of(ScriptErrorResult, 'Why it failed.'),
  output: member.list(ScriptOutputLineResult, 'What it printed.'),
  requestId: member.text('The request that started it; the log has it too.'),
});

const ScriptLogLevel = enumType('ScriptLogLevel', 'How severe a line of the log is.', {
  debug: 'For the author of the script.',
  info: 'Expected events.',
  warn: 'Events that may need attention.',
  error: 'Errors.',
});

const ScriptLogEntryResult = objectType('ScriptLogEntry', 'A log entry of a script (`platform.log`).', {
  id: member.id('Increases with time. Pass it as `before`.'),
  at: member.instant('When it happened.'),
  level: member.of(ScriptLogLevel, 'How severe.'),
  message: member.text('The logged text.'),
  data: nullable.json('The data that was logged with it.'),
  script: member.text('The script.'),
  runId: member.id('The run of it.'),
  principal: member.id('The user it ran as, or `script:<name>` with service roles.'),
});

const ScriptTriggerInput = inputType(
  'ScriptTriggerInput',
  'The writes of a collection that start a script.',
  ScriptTriggerResult.members,
);

const ScriptEndpointInput = inputType('ScriptEndpointInput', 'The address `/x/<name>` of a script.', {
  access: member.of(ScriptEndpointAccess, 'Who may call it.'),
  methods: nullable.texts('GET, POST, PUT, PATCH, DELETE. Default: GET and POST.'),
});

const SaveScriptInput = inputType(
  'SaveScriptInput',
  'A whole script: members that are left out get their defaults.',
  {
    name: member.text('A letter, then at most 63 of A-Z, a-z, 0-9, `_`, `.`, `-`.'),
    code: member.text(
      'An ES module. Its default export is the result; a function there is called with `args`.',
    ),
    description: nullable.text('What it is for.'),
    isEnabled: nullable.flag('Whether it may run. Default: true.'),
    roles: nullable.texts('The roles that may run it, in addition to admins. Default: none.'),
    serviceRoles: nullable.texts(
      'The roles it runs with, instead of as its caller. Required with `schedule`, `after`, `topics` ' +
        'and a public endpoint.',
    ),
    before: nullable.list(ScriptTriggerInput, 'The writes it may change or refuse.'),
    after: nullable.list(ScriptTriggerInput, 'The writes it runs after, once committed.'),
    schedule: nullable.text(
      'Minute, hour, day, month, weekday, in the time zone of the domain, e.g. "30 20 * * *" for ' +
        'half past eight in the evening.',
    ),
    topics: nullable.texts('The topics whose messages start it.'),
    endpoint: nullable.of(ScriptEndpointInput, 'Its address, if it is to have one.'),
  },
);

export interface ScriptResolverServices {
  readonly scripts: Scripts;
  readonly scriptRuns: ScriptRuns;
  readonly scriptLog: ScriptLog;
  readonly pages: PageSizes;
}

export const ScriptResolver = serviceResolver(
  ({ query, mutation, done }: FieldRows<ScriptResolverServices>) => ({
    scripts: query(
      member.list(ScriptResult, 'The scripts of the domain that you may run, by name; for admins all.'),
      {},
      ({ scripts }, scope) =>
        scripts.list(scope).map((script) => ({
          ...script,
          code: async () => (await scripts.get(scope, script.name)).code,
        })),
    ),
    script: query(
      member.of(ScriptResult, 'One script. For admins. Errors: NOT_FOUND.'),
      { name: member.id('Its name.') },
      ({ scripts }, scope, { name }) => scripts.get(scope, name),
    ),
    scriptVersions: query(
      member.list(
        ScriptVersionResult,
        'The versions of a script, the newest first, also of one that was removed. For admins.',
      ),
      { name: member.id('The script.'), first: nullable.whole('The most to return.') },
      ({ pages, scripts }, scope, { name, first }) =>
        scripts.versions(scope, name, toPageRequest({ first }, pages).limit),
    ),
    /** @throws FORBIDDEN, INVALID_VALUE, VERSION_CONFLICT */
    saveScript: mutation(
      member.of(
        ScriptResult,
        'Saves a script as a whole, as a new version. For admins. Errors: INVALID_VALUE with line and ' +
          'column where the code cannot be read, VERSION_CONFLICT.',
      ),
      {
        script: member.of(SaveScriptInput, 'The script.'),
        ifVersion: nullable.whole(
          'Save it only if the script still has this version; 0: only if no script has this name.',
        ),
      },
      ({ scripts }, scope, { script, ifVersion }) => scripts.save(scope, withoutNulls(script), ifVersion),
    ),
    removeScript: done(
      'Removes a script. Its versions and runs remain. For admins. Errors: NOT_FOUND.',
      { name: member.id('Its name.') },
      ({ scripts }, scope, { name }) => scripts.remove(scope, name),
    ),
    /** @throws NOT_FOUND, FORBIDDEN */
    runScript: mutation(
      member.of(
        ScriptRunResult,
        'Runs a script and waits for its end. One that fails is a run with `error`. Errors: NOT_FOUND, ' +
          'FORBIDDEN.',
      ),
      {
        name: member.id('The script; of `code`, the name that its errors show.'),
        arguments: nullable.json('The value of `args` in the script.'),
        code: nullable.text(
          'Code that is not saved, to run with your rights in place of the stored script. For admins.',
        ),
        dryRun: nullable.flag('Rolls back all that the script writes, and sends none of its messages.'),
      },
      ({ scriptRuns }, scope, { name, code, dryRun = false, ...given }) => {
        const options = { cause: 'call', arguments: given.arguments ?? null, isDryRun: dryRun } as const;
        if (code === undefined) return scriptRuns.call(scope, name, options);
        return scriptRuns.tryOut(scope, { name, code }, options);
      },
    ),
    scriptRuns: query(
      member.list(
        ScriptRunResult,
        'The runs of scripts, the newest first: yours, for admins all of the domain, for an API key ' +
          'those it started.',
      ),
      {
        script: nullable.id('Of this script only.'),
        status: nullable.of(ScriptRunStatus, 'With this outcome only.'),
        first: nullable.whole('The most to return.'),
        before: nullable.id('Only runs older than the one with this id: the last of the page before.'),
      },
      ({ pages, scriptRuns }, scope, { first, ...query }) =>
        scriptRuns.list(scope, { ...query, limit: toPageRequest({ first }, pages).limit }),
    ),
    scriptLog: query(
      member.list(
        ScriptLogEntryResult,
        'Log entries of scripts (`platform.log`), the newest first: of your runs, for admins all of the ' +
          'domain, for an API key in those it started.',
      ),
      {
        script: nullable.id('Of this script only.'),
        runId: nullable.id('Of this run only.'),
        level: nullable.of(ScriptLogLevel, 'This level and the more severe ones.'),
        first: nullable.whole('The most to return.'),
        before: nullable.id('Only entries older than the one with this id, the last of the previous page.'),
      },
      ({ pages, scriptLog }, scope, { first, ...query }) =>
        scriptLog.list(scope, { ...query, limit: toPageRequest({ first }, pages).limit }),
    ),
    scriptRun: query(
      member.of(ScriptRunResult, 'One run. Errors: NOT_FOUND.'),
      { id: member.id('The run.') },
      ({ scriptRuns }, scope, { id }) => scriptRuns.get(scope, id),
    ),
  }),
);

/** GraphQL sends null for members that a script leaves out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null && member !== undefined)
      .map(([name, member]) => [name, withoutNulls(member)]),
  );
}
