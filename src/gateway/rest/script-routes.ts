/** The route that runs a script. */
import { type OperationDefinitionNode, parse } from 'graphql';
import { printExactJson } from '../../base/json/json.js';
import { toGraphqlField } from '../../services/scripting/library/declared-field.js';
import type { DeclaringScript } from '../../services/scripting/library/scripts.js';
import { describeArguments, describeData } from '../resolvers/argument-schema.js';
import { operationOf, scriptFailed } from '../resolvers/script-fields.js';
import { readFlag } from './parameter-reader.js';
import { BODY_ERRORS, inPath, inQuery, jsonAnswer, ok, type Route, via } from './route.js';

const RUN = {
  type: 'object',
  properties: {
    runId: { type: 'string', format: 'uuid' },
    value: { description: 'The result of the script.' },
    output: { type: 'array', items: { type: 'string' }, description: 'What it printed.' },
  },
};

const runScript: Route = {
  name: 'runScript',
  method: 'POST',
  path: '/scripts/{name}/run',
  group: 'Scripts',
  summary: 'Runs a script of the school and waits for its end',
  description: 'The body is passed to the script as `args`. The answer has its result and its printed lines.',
  parameters: [
    inPath('name', 'the script', { example: 'fee-reminder' }),
    inQuery('dry_run', 'true: what the script writes is rolled back, with the messages it queues', {
      schema: { type: 'boolean' },
    }),
  ],
  body: {
    kind: 'record',
    isRequired: false,
    description: 'The `args` of the script; absent: `{}`.',
    schema: {},
    example: { month: '2026-10' },
  },
  answers: [ok('What came of the run.', RUN)],
  errors: ['MALFORMED_REQUEST', 'UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', ...BODY_ERRORS, 'SCRIPT_FAILED'],
  urgencyOf: () => 'script',
  ...via('scripts', ['runScript'], async (scripts, { context, path, parameters, body }) => {
    const dryRun = readFlag(parameters, 'dry_run') ?? false;
    const run = await scripts.runScript(context, { name: path.name ?? '', arguments: body, dryRun });
    if (run.error !== undefined) throw scriptFailed(run);
    const output = run.output.map(({ text }) => text);
    return jsonAnswer(printExactJson({ runId: run.id, value: run.value ?? null, output }));
  }),
};

export const SCRIPT_ROUTES: readonly Route[] = [runScript];

/** The route of a script that declares a field, with the schemas of its arguments and its value. */
export function describeScript({ name, description, field }: DeclaringScript) {
  const document = parse(operationOf(field));
  const operation = document.definitions[0] as OperationDefinitionNode;
  const described = { ...toGraphqlField(field), document, operation, filterVariables: [] };
  const taken = describeArguments(described);
  const isRequired = taken.required.length > 0;
  const { [field.name]: value } = describeData(described).properties;
  return {
    ...runScript,
    name: `runScript_${field.name}`,
    path: `/scripts/${name}/run`,
    summary: description.split('\n')[0] || `Runs the script ${name}`,
    description: `It is the field \`${field.name}\` of GraphQL.`,
    parameters: runScript.parameters.filter((one) => one.in !== 'path'),
    body: { kind: 'record' as const, isRequired, description: 'The arguments.', schema: { ...taken } },
    answers: [ok('What came of the run.', { ...RUN, properties: { ...RUN.properties, value } })],
  };
}
