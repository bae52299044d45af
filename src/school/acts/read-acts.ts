/**
 * Acts: buttons of the portal that call a mutation, or lead to a page, declared in schema/acts. The form of
 * an act is drawn from the inputs of its mutation. They are read and checked when the gateway starts.
 */
import {
  type GraphQLArgument,
  GraphQLEnumType,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isRequiredInputField,
} from 'graphql';
import { asJson, type JsonObject } from '../../base/json/json.js';
import type { Collection } from '../../base/model/collection.js';
import type { Scope } from '../../base/model/scope.js';
import { findAccess } from '../../store/access/access.js';
import { declarationFault, findDeclared, readDeclarations } from '../read-declarations.js';
import type { ActDefinition } from './act-definition.js';

export interface DeclaredAct {
  readonly definition: ActDefinition;
  readonly source: string;
  /** The collection whose access decides who may act. */
  readonly needed: Collection | undefined;
  /** The collections on whose records it is shown. */
  readonly shownOn: readonly Collection[];
}

/** @throws INVALID_VALUE with the file, the place in it and the fault */
export async function readActs(
  directory: string,
  collections: readonly Collection[],
): Promise<readonly DeclaredAct[]> {
  const read = await readDeclarations<ActDefinition>(directory, 'act');
  return read.map(({ definition, source }) => {
    const find = (place: string, name: string) =>
      findDeclared(collections, name, { source, place, missing: 'there is no collection' });
    const { needs, on, translations = {}, when = [] } = definition;
    const needed = needs.collection === undefined ? undefined : find('/needs/collection', needs.collection);
    for (const name of needs.fields ?? [])
      findDeclared(needed?.fields ?? [], name, {
        ...{ source, place: '/needs/fields', missing: `${needed?.name} has no field` },
      });
    const shownOn = on.flatMap(({ record, collection }, index) => {
      if (collection !== undefined) find(`/on/${index}/collection`, collection);
      return record === undefined ? [] : [find(`/on/${index}/record`, record)];
    });
    const names = [...Object.values(definition.inputs ?? {}).flatMap(({ from }) => from ?? [])];
    for (const { fields, name: of } of shownOn) {
      for (const name of [...names, ...when.map(({ field }) => field)].filter((one) => one !== '_id'))
        findDeclared(fields, name.split('.')[0] ?? '', {
          ...{ source, place: '/inputs', missing: `${of} has no field` },
        });
    }
    const texts = textsOf(definition);
    for (const [language, words] of Object.entries(translations)) {
      const unknown = Object.keys(words).find((text) => !texts.has(text));
      if (unknown !== undefined)
        throw declarationFault(source, `/translations/${language}`, `the act has no text "${unknown}"`);
    }
    return { definition, source, needed, shownOn };
  });
}

function textsOf(definition: ActDefinition): ReadonlySet<string> {
  const { title, description, done, when = [], result = [], rows, inputs = {} } = definition;
  return new Set(
    [
      ...[title, description, done],
      ...[...when, ...result].map(({ otherwise }) => otherwise),
      ...[...result, ...(rows?.columns ?? [])].map((one) => one.title),
      ...Object.values(inputs).flatMap((input) => [input.title, ...Object.values(input.choices ?? {})]),
    ].flatMap((text) => text ?? []),
  );
}

/** Whether the caller has the rights that the act needs; `may` looks up a field of `me`. */
export function mayAct(scope: Scope, act: DeclaredAct, may: (name: string) => boolean): boolean {
  const { me, verb = 'update', fields = [] } = act.definition.needs;
  if (me !== undefined && !may(me)) return false;
  if (!act.needed) return true;
  const access = findAccess(scope, act.needed, verb);
  return access !== undefined && fields.every((name) => !access.readOnlyFields.has(name));
}

/**
 * The declaration as it is sent to clients, with the types of its inputs and the document that calls it.
 *
 * @throws INVALID_VALUE if the mutation, an input or a result is not in the schema
 */
export function printAct({ definition, source }: DeclaredAct, schema: GraphQLSchema): JsonObject {
  const { mutation, inputs = {}, preview, result = [], rows, needs: _needs, ...words } = definition;
  for (const [index, { report }] of definition.on.entries()) {
    if (report !== undefined && !schema.getQueryType()?.getFields()[report])
      throw declarationFault(source, `/on/${index}/report`, `there is no report "${report}"`);
  }
  if (mutation === undefined) return asJson({ ...words, inputs: [] });
  const field = schema.getMutationType()?.getFields()[mutation];
  if (!field) throw declarationFault(source, '/mutation', `there is no mutation "${mutation}"`);
  const printed = Object.entries(inputs).map(([path, input]) => {
    const found = inputAt(field.args, path);
    if (!found) throw declarationFault(source, `/inputs/${path}`, `${mutation} has no such input`);
    const type = getNamedType(found.type);
    const choices = type instanceof GraphQLEnumType ? type.getValues().map(({ name }) => name) : null;
    for (const choice of [
      ...Object.keys(input.choices ?? {}),
      ...(choices ? [input.value ?? []].flat() : []),
    ]) {
      if (!choices?.includes(String(choice)))
        throw declarationFault(source, `/inputs/${path}`, `"${String(choice)}" is not one of its values`);
    }
    return {
      ...input,
      path,
      type: type.name,
      isList: getNullableType(found.type) instanceof GraphQLList,
      isRequired: input.isRequired === true || found.type instanceof GraphQLNonNull,
      allowed: choices && (input.choices ? Object.keys(input.choices) : choices),
      description: found.description ?? '',
    };
  });
  const missing = missingInput(field.args, Object.keys(inputs));
  if (missing !== undefined) throw declarationFault(source, '/inputs', `"${missing}" is required`);
  if (preview !== undefined && getNamedType(inputAt(field.args, preview)?.type)?.name !== 'Boolean')
    throw declarationFault(source, '/preview', `${mutation} has no switch "${preview}"`);
  const type = getNamedType(field.type);
  const fieldsOf = (of: unknown) => (of instanceof GraphQLObjectType ? of.getFields() : {});
  const list = rows && fieldsOf(type)[rows.list];
  if (rows && !list) throw declarationFault(source, '/rows/list', `the result has no field "${rows.list}"`);
  for (const [place, of, shown] of [
    ['/result', type, result],
    ['/rows/columns', list && getNamedType(list.type), rows?.columns ?? []],
  ] as const) {
    const unknown = shown.find(({ field: name }) => !fieldsOf(of)[name]);
    if (unknown) throw declarationFault(source, place, `the result has no field "${unknown.field}"`);
  }
  const used = field.args.filter(({ name }) =>
    [...Object.keys(inputs), ...(preview === undefined ? [] : [preview])].some(
      (path) => path === name || path.startsWith(`${name}.`),
    ),
  );
  const selected = [
    ...result.map((one) => one.field),
    ...(rows ? [`${rows.list} { ${rows.columns.map((one) => one.field).join(' ')} }`] : []),
  ];
  const own = type instanceof GraphQLObjectType ? ` { ${['__typename', ...selected].join(' ')} }` : '';
  const document =
    `mutation Act(${used.map(({ name, type: of }) => `$${name}: ${String(of)}`).join(', ')}) ` +
    `{ ${mutation}(${used.map(({ name }) => `${name}: $${name}`).join(', ')})${own} }`;
  return asJson({ ...words, mutation, preview, result, rows, inputs: printed, document });
}

type Input = Pick<GraphQLArgument, 'name' | 'type' | 'description'>;

function inputAt(inputs: readonly Input[], path: string): Input | undefined {
  const [name, ...rest] = path.split('.');
  const found = inputs.find((one) => one.name === name);
  return found && rest.length > 0 ? inputAt(membersOf(found.type), rest.join('.')) : found;
}

function membersOf(type: GraphQLInputType) {
  const named = getNamedType(type);
  return named instanceof GraphQLInputObjectType ? Object.values(named.getFields()) : [];
}

/** The path of a required input that no path of `given` reaches. */
function missingInput(
  inputs: readonly (Input & Parameters<typeof isRequiredInputField>[0])[] | readonly GraphQLArgument[],
  given: readonly string[],
): string | undefined {
  for (const input of inputs) {
    const within = given.filter((path) => path === input.name || path.startsWith(`${input.name}.`));
    if (within.length === 0 && isRequiredInputField(input as never)) return input.name;
    if (within.length === 0 || within.includes(input.name)) continue;
    const rest = within.map((path) => path.slice(input.name.length + 1));
    const missing = missingInput(membersOf(input.type), rest);
    if (missing !== undefined) return `${input.name}.${missing}`;
  }
  return undefined;
}
