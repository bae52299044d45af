/** The fields of the schema that scripts declare. */
import {
  extendSchema,
  type GraphQLArgument,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isObjectType,
  parse,
} from 'graphql';
import { ServiceError } from '../../base/errors.js';
import { type ScriptField, toGraphqlField } from '../../services/scripting/library/declared-field.js';
import type { ScriptRun, ScriptRuns } from '../../services/scripting/library/script-runs.js';
import type { DeclaringScript, Scripts } from '../../services/scripting/library/scripts.js';
import { type RequestContext, requireScope } from './request-context.js';
import type { NeededRight } from './services/caller-reach.js';

export interface ScriptFieldServices {
  readonly scripts: Pick<Scripts, 'starts' | 'fieldListeners'>;
  readonly scriptRuns: Pick<ScriptRuns, 'call'>;
}

/** The script behind a field of the schema. */
export function scriptOf(field: { readonly extensions: object } | undefined): DeclaringScript | undefined {
  return (field?.extensions as { readonly script?: DeclaringScript } | undefined)?.script;
}

/** The names of its types and root fields. */
export function namesIn(schema: GraphQLSchema): Set<string> {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const rootFields = roots.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  return new Set([...Object.keys(schema.getTypeMap()), ...rootFields]);
}

/**
 * The schema with the fields of these scripts. A field of which a name is taken is left out: collections that
 * were registered after the script was saved take precedence. `needed` receives what the others need.
 */
export function withScriptFields(
  schema: GraphQLSchema,
  { scripts, scriptRuns }: ScriptFieldServices,
  needed: Map<string, readonly NeededRight[]>,
): GraphQLSchema {
  const taken = namesIn(schema);
  const added = scripts.starts.declaring.filter(({ field: { name, types } }) => {
    const isFree = [name, ...types].every((one) => !taken.has(one));
    if (isFree) for (const one of [name, ...types]) taken.add(one);
    return isFree;
  });
  if (added.length === 0) return schema;
  const document = parse(added.map(({ field }) => field.sdl).join('\n'));
  const extended = extendSchema(schema, document, { assumeValid: true });
  const fields = { ...extended.getQueryType()?.getFields(), ...extended.getMutationType()?.getFields() };
  for (const script of added) {
    const { name, types } = script.field;
    for (const one of [name, ...types]) needed.set(one, [{ scriptField: name }]);
    const description = script.description || fields[name]?.description || `The script ${script.name}.`;
    const resolve = async (_: unknown, args: Record<string, never>, context: RequestContext) => {
      const call = { cause: 'call', arguments: args, domainId: script.domainId } as const;
      const run = await scriptRuns.call(requireScope(context), script.name, call);
      if (run.error !== undefined) throw scriptFailed(run);
      return run.value;
    };
    Object.assign(fields[name] ?? {}, { description, extensions: { script }, resolve });
  }
  return extended;
}

/** The error of a failed script for its caller: with message and position, as the school wrote the script. */
export function scriptFailed(run: ScriptRun): ServiceError {
  const { error } = run;
  const line = error?.line === undefined ? '' : `:${error.line}`;
  const place = line === '' ? run.script : `${error?.script}${line}:${error?.column ?? 1}`;
  return new ServiceError('SCRIPT_FAILED', `${place}: ${error?.message ?? 'it failed'}`, {
    errors: [{ detail: `run ${run.id}: ${error?.name ?? 'Error'}${error?.code ? ` ${error.code}` : ''}` }],
  });
}

/** How many members an operation selects. */
const MOST_MEMBERS = 500;

/** The fields of the schema that scripts declare, as operations. Names have letters, digits and hyphens. */
export function scriptOperations(schema: GraphQLSchema) {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const script = scriptOf(field);
      if (!script) return [];
      const name = script.name.replaceAll(/[^A-Za-z0-9]+/g, '-');
      const entry = { name, title: script.name, description: field.description ?? '', variables: {} };
      return [{ ...entry, kind: script.field.kind, document: operationOf(script.field) }];
    }),
  );
}

/** An operation that calls the field with all its arguments, and selects all members except cycles. */
export function operationOf(declared: ScriptField): string {
  const { args, name, type } = toGraphqlField(declared);
  let room = MOST_MEMBERS;
  /** Empty for a scalar; `undefined` for a type that contains itself, or beyond the limit of members. */
  const select = (of: GraphQLOutputType, within: readonly unknown[]): string | undefined => {
    const named = getNamedType(of);
    if (!isObjectType(named)) return '';
    if (within.includes(named)) return undefined;
    const members = Object.values(named.getFields()).flatMap((member) => {
      room -= 1;
      const inner = room < 0 ? undefined : select(member.type, [...within, named]);
      return inner === undefined ? [] : [member.name + inner];
    });
    return members.length === 0 ? undefined : ` { ${members.join(' ')} }`;
  };
  const inBrackets = (parts: readonly string[]) => (parts.length === 0 ? '' : `(${parts.join(', ')})`);
  // Without a variable, an argument has its default.
  const typeOf = (arg: GraphQLArgument) =>
    arg.defaultValue === undefined ? arg.type : getNullableType(arg.type);
  const variables = inBrackets(args.map((arg) => `$${arg.name}: ${String(typeOf(arg))}`));
  const passed = inBrackets(args.map((arg) => `${arg.name}: $${arg.name}`));
  return `${declared.kind} Script${variables} { ${name}${passed}${select(type, []) ?? ''} }`;
}
