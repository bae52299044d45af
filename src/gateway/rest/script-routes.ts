/** The route that runs a script. */
import { ServiceError } from '../../base/errors.js';
import { printExactJson } from '../../base/json/json.js';
import type { ScriptRun } from '../../services/scripting/library/script-runs.js';
import { readFlag } from './parameter-reader.js';
import { type Answer, BODY_ERRORS, inPath, inQuery, jsonAnswer, ok, type Route, via } from './route.js';

const runScript: Route = {
  name: 'runScript',
  method: 'POST',
  path: '/scripts/{name}/run',
  group: 'Scripts',
  summary: 'Runs a script of the school and waits for its end',
  description: 'The body is what the script finds in `args`. The answer says what it gave back and printed.',
  parameters: [
    inPath('name', 'the script', { example: 'fee-reminder' }),
    inQuery('dry_run', 'true: what the script writes is rolled back, with the messages it queues', {
      schema: { type: 'boolean' },
    }),
  ],
  body: {
    kind: 'record',
    isRequired: false,
    description: 'What the script finds in `args`; absent: `{}`.',
    schema: {},
    example: { month: '2026-10' },
  },
  answers: [
    ok('What came of the run.', {
      type: 'object',
      properties: {
        runId: { type: 'string', format: 'uuid' },
        value: { description: 'What the script gave back.' },
        output: { type: 'array', items: { type: 'string' }, description: 'What it printed.' },
      },
    }),
  ],
  errors: ['MALFORMED_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', ...BODY_ERRORS, 'SCRIPT_FAILED'],
  urgencyOf: () => 'script',
  ...via('scripts', ['runScript'], async (scripts, { context, path, parameters, body }) => {
    return answerRun(
      await scripts.runScript(context, {
        name: path.name ?? '',
        arguments: body,
        dryRun: readFlag(parameters, 'dry_run') ?? false,
      }),
    );
  }),
};

export const SCRIPT_ROUTES: readonly Route[] = [runScript];

function answerRun(run: ScriptRun): Answer {
  if (run.error !== undefined) throw scriptFailed(run);
  const output = run.output.map(({ text }) => text);
  return jsonAnswer(printExactJson({ runId: run.id, value: run.value ?? null, output }));
}

/**
 * What a caller sees of a script that failed: its message and position, because the school's own people wrote
 * it.
 */
export function scriptFailed(run: ScriptRun): ServiceError {
  const { error } = run;
  const line = error?.line === undefined ? '' : `:${error.line}`;
  const place = line === '' ? run.script : `${error?.script}${line}:${error?.column ?? 1}`;
  return new ServiceError('SCRIPT_FAILED', `${place}: ${error?.message ?? 'it failed'}`, {
    errors: [{ detail: `run ${run.id}: ${error?.name ?? 'Error'}${error?.code ? ` ${error.code}` : ''}` }],
  });
}
