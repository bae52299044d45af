/**
 * Decides which tools a caller is offered. Running a tool is subject to the same rules as everything else,
 * but offering one that will be refused misleads an agent, and changes are reserved for keys made for them.
 */
import { Kind, OperationTypeNode } from 'graphql';
import type { Collection } from '../../base/model/collection.js';
import type { RecordVerb, Scope } from '../../base/model/scope.js';
import { findAccess } from '../../store/access/access.js';
import type { AgentTool } from './agent-tool.js';

/** Names that root fields may refer to. */
export interface AskedThings {
  readonly collections: { list(): readonly Collection[] };
  /** Whether the caller may run the field's report; `undefined` if it is not the field of a report. */
  readonly mayRunReport: (scope: Scope, field: string) => boolean | undefined;
}

/** Whether the tool changes what is stored. */
export function isWriting({ operation }: Pick<AgentTool, 'operation'>): boolean {
  return operation.operation === OperationTypeNode.MUTATION;
}

/** Whether the tool may change or remove existing data: it does more than create. */
export function isDestructive(tool: Pick<AgentTool, 'operation'>): boolean {
  return isWriting(tool) && rootFieldsOf(tool).some((field) => !field.startsWith('create'));
}

/**
 * A query is offered to callers who may read what its root fields refer to. A mutation is offered to an API
 * key whose scopes have the verb for the collection, within the rights of its user; never to a token, which
 * has all rights of the logged-in user.
 */
export function isOffered(tool: AgentTool, scope: Scope, things: AskedThings): boolean {
  const fields = rootFieldsOf(tool);
  if (!isWriting(tool)) return fields.every((field) => mayAsk(field, scope, things));
  if (scope.principal.scopes === undefined) return false;
  return fields.every((field) => mayChange(field, scope, things));
}

function rootFieldsOf({ operation }: Pick<AgentTool, 'operation'>): readonly string[] {
  return operation.selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD ? selection.name.value : '',
  );
}

function mayAsk(field: string, scope: Scope, { collections, mayRunReport }: AskedThings): boolean {
  const mayRun = mayRunReport(scope, field);
  if (mayRun !== undefined) return mayRun;
  const collection = collections.list().find(({ singular, plural }) => isOf(field, singular, plural));
  return collection === undefined || findAccess(scope, collection, 'read') !== undefined;
}

const QUESTIONS = ['', 'Aggregate', 'Distinct', 'Changes'];

function isOf(field: string, singular: string, plural: string): boolean {
  return field === singular || QUESTIONS.some((question) => field === plural + question);
}

const VERBS: readonly (readonly [prefix: string, verbs: readonly RecordVerb[]])[] = [
  ['create', ['create']],
  ['update', ['update']],
  ['upsert', ['create', 'update']],
  ['delete', ['delete']],
];

/** Changes of anything but the records of one collection are not offered. */
function mayChange(field: string, scope: Scope, { collections }: AskedThings): boolean {
  const [prefix, verbs] = VERBS.find(([start]) => field.startsWith(start)) ?? ['', []];
  const name = field.slice(prefix.length);
  const collection = collections
    .list()
    .find(({ singular, plural }) => name === upperFirst(singular) || name === upperFirst(plural));
  if (collection === undefined || verbs.length === 0) return false;
  return verbs.every((verb) => findAccess(scope, collection, verb) !== undefined);
}

function upperFirst(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
