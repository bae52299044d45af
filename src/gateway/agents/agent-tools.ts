/**
 * The tools and resources of agents: the library's operations and a search of collections as tools, the
 * declarations and the schema as resources. All run as in `/graphql`, with the rights of the credential;
 * answers are limited in size, and a cut one says so.
 */

import type { CallToolResult, ReadResourceResult, Tool } from '@modelcontextprotocol/server';
import {
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  printType,
} from 'graphql';
import { invalidAt, ServiceError } from '../../base/errors.js';
import { today } from '../../base/model/calendar.js';
import { getOrMake } from '../../base/process/get-or-make.js';
import { printResult } from '../../base/scalars/json-text.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import type { ExampleOperation } from '../../portal/explore/example-operation.js';
import type { OwnDocuments } from '../graphql/graphql-server.js';
import { assertIntrospectionRole } from '../graphql/limits/permitted.js';
import type { GraphqlCaller } from '../graphql/operation/prepared-operation.js';
import { isPageSize } from '../resolvers/argument-schema.js';
import { type RequestContext, requireScope } from '../resolvers/request-context.js';
import { scriptOperations } from '../resolvers/script-fields.js';
import { NEEDED_BY_SERVICES, reaches } from '../resolvers/services/caller-reach.js';
import { type AgentTool, createOperationTools, noteFault } from './agent-tool.js';
import { type AnswerBounds, type BoundedAnswer, boundAnswer, boundText } from './bounded-answer.js';
import {
  createCollectionTools,
  DESCRIBE_COLLECTION,
  type KnownCollections,
  LIST_COLLECTIONS,
} from './collection-tools.js';

export interface AgentServices {
  readonly documents: OwnDocuments;
  readonly library: readonly ExampleOperation[];
  readonly collections: KnownCollections;
  readonly bounds: AnswerBounds;
  readonly now: () => Date;
  /** Receives every fault of ours, with its request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

type Sent = Readonly<Record<string, unknown>>;

export const RESOURCES = [
  {
    uri: 'campus://collections',
    name: 'collections',
    title: 'The collections',
    description: 'The collections you may read or write: what a record of each is.',
    mimeType: 'application/json',
  },
  {
    uri: 'campus://schema',
    name: 'schema',
    title: 'The GraphQL schema',
    description: 'The questions and changes of the schema, a line each, and the names of its types.',
    mimeType: 'text/plain',
  },
] as const;

export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: 'campus://collections/{name}',
    name: 'collection',
    title: 'A collection',
    description: 'The declaration of a collection: its fields, as far as you may know of them.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: 'campus://schema/{type}',
    name: 'type',
    title: 'A type of the GraphQL schema',
    description: 'A type with its fields and their descriptions, in the schema definition language.',
    mimeType: 'text/plain',
  },
] as const;

export class AgentTools {
  readonly #services: AgentServices;
  readonly #toolsBySchema = new WeakMap<GraphQLSchema, readonly AgentTool[]>();

  constructor(services: AgentServices) {
    this.#services = services;
  }

  /** The tools that the caller may use, with examples for today. @throws UNAUTHENTICATED */
  listTools({ context }: GraphqlCaller): Tool[] {
    const scope = requireScope(context);
    const day = today(scope.domain.timeZone, this.#services.now());
    const isOffered = this.#offeredTo(context);
    return this.#tools()
      .filter(isOffered)
      .map((tool) => toListed(tool, day));
  }

  /** The names of the tools that the caller may use. @throws UNAUTHENTICATED */
  namesFor(context: RequestContext): ReadonlySet<string> {
    const offered = this.#tools().filter(this.#offeredTo(context));
    return new Set(offered.map(({ name }) => name));
  }

  /**
   * Runs a tool. The first text of its answer is JSON, and the structured content the same as data; on
   * failure it has the errors as in GraphQL.
   *
   * @throws NOT_FOUND for an unknown tool
   */
  async callTool(caller: GraphqlCaller, name: string, sent: Sent): Promise<CallToolResult> {
    const tools = this.#tools();
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) {
      const known = tools.map((one) => one.name);
      throw new ServiceError('NOT_FOUND', `There is no such tool.${didYouMean(name, known)}`);
    }
    try {
      return await this.#answer(caller, tool, sent);
    } catch (error) {
      const fault = noteFault(error, caller, this.#services.onFault);
      return { content: toContent([JSON.stringify({ errors: [fault] })]), isError: true };
    }
  }

  /** @throws NOT_FOUND; FORBIDDEN for callers who may not introspect */
  async readResource(caller: GraphqlCaller, uri: string): Promise<ReadResourceResult> {
    const [, kind = '', name] = /^campus:\/\/(collections|schema)(?:\/([\w.-]{1,128}))?$/.exec(uri) ?? [];
    if (kind === 'collections') {
      const operation =
        name === undefined ? { text: LIST_COLLECTIONS } : { text: DESCRIBE_COLLECTION, collection: name };
      return await this.#readDeclarations(caller, uri, operation);
    }
    if (kind === 'schema') {
      assertIntrospectionRole(caller.context, this.#services.documents.introspectionRoles);
      const text = name === undefined ? this.#printIndex(caller) : this.#printType(caller, name);
      return toResource(uri, boundText(text, this.#services.bounds.maxBytes), 'text/plain');
    }
    throw new ServiceError(
      'NOT_FOUND',
      'There is no such resource; resources/list and resources/templates/list list all of them.',
    );
  }

  #tools(): readonly AgentTool[] {
    const { documents, library, collections, bounds } = this.#services;
    return getOrMake(this.#toolsBySchema, documents.schema, () => {
      const sources = { prepare: (text: string) => documents.prepare(text), maxRows: bounds.maxRows };
      const operations = createOperationTools([...scriptOperations(documents.schema), ...library], sources);
      const tools = [...operations, ...createCollectionTools(collections, sources)];
      // A script has no tool if another one has its name.
      return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
    });
  }

  /** @throws ServiceError */
  async #answer(caller: GraphqlCaller, tool: AgentTool, sent: Sent): Promise<CallToolResult> {
    const { documents, bounds } = this.#services;
    const scope = requireScope(caller.context);
    this.#assertOffered(tool, caller);
    assertArguments(tool, sent, bounds);
    const { document, variables } = tool.toRequest(withPageSizes(tool, sent), scope);
    const { result } = await documents.answer(document, { caller, variables });
    if (result.errors) {
      const errors = result.errors.map(inWordsOfTools);
      return { content: toContent([printResult({ ...result, errors })]), isError: true };
    }
    const { text, cuts } = boundAnswer(printResult(result.data), bounds);
    const notes = cuts.length === 0 ? [] : [noteOf(cuts, bounds)];
    const content = toContent([text, ...notes, ...caller.notes.hints]);
    const structuredContent = JSON.parse(text) as Record<string, unknown> | null;
    return structuredContent === null
      ? { content, isError: true }
      : { content, structuredContent, isError: false };
  }

  /**
   * A query is offered to callers whose rights reach its root fields. A change of records of one collection
   * is offered to an API key whose scopes have the verb, or name the script, within the rights of its user;
   * never to a token, which has all rights of the logged-in user.
   */
  #offeredTo(context: RequestContext): (tool: AgentTool) => boolean {
    const { neededFor, reachOf } = this.#services.documents;
    const reach = reachOf(context);
    return (tool) =>
      rootFieldsOf(tool).every((field) => {
        const needed = neededFor(field);
        if (!isWriting(tool)) return reaches(reach, needed);
        const { scopes } = requireScope(context).principal;
        const isNamed = needed.some((right) => 'collection' in right || 'scriptField' in right);
        const isOffered = isNamed && !NEEDED_BY_SERVICES.has(field);
        return scopes !== undefined && isOffered && reaches(reach, needed);
      });
  }

  /** @throws FORBIDDEN for a change that the caller is not offered */
  #assertOffered(tool: AgentTool, { context }: GraphqlCaller): void {
    if (!isWriting(tool) || this.#offeredTo(context)(tool)) return;
    throw new ServiceError(
      'FORBIDDEN',
      'Agents may only write with an API key whose scopes name the collection and verb, or the script.',
    );
  }

  async #readDeclarations(
    caller: GraphqlCaller,
    uri: string,
    { text, ...variables }: { readonly text: string; readonly collection?: string },
  ): Promise<ReadResourceResult> {
    const { documents, bounds } = this.#services;
    const { result } = await documents.answer(text, { caller, variables });
    const [error] = result.errors ?? [];
    if (error) throw new GraphQLError(error.message, { extensions: error.extensions });
    const bounded = boundAnswer(printResult(result.data), bounds);
    return toResource(uri, bounded, bounded.cuts.length === 0 ? 'application/json' : 'text/plain');
  }

  #printIndex({ context }: GraphqlCaller): string {
    const schema = this.#services.documents.schemaFor(context);
    const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      type
        ? [
            `${type.name} (campus://schema/${type.name} has the arguments):`,
            ...Object.values(type.getFields()).map((field) => `  ${field.name}: ${String(field.type)}`),
            '',
          ]
        : [],
    );
    const names = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
    return [...fields, 'Types:', ...names.sort().map((name) => `  ${name}`), ''].join('\n');
  }

  /** @throws NOT_FOUND */
  #printType({ context }: GraphqlCaller, name: string): string {
    const schema = this.#services.documents.schemaFor(context);
    const type = schema.getType(name);
    if (type) return `${printType(type)}\n`;
    const known = Object.keys(schema.getTypeMap());
    throw new ServiceError('NOT_FOUND', `There is no type of this name.${didYouMean(name, known)}`);
  }
}

function toContent(texts: readonly string[]): CallToolResult['content'] {
  return texts.map((text) => ({ type: 'text', text }));
}

/** An agent knows the arguments of a tool, not the document whose variables they are. */
function inWordsOfTools({ message, path, extensions }: GraphQLFormattedError): GraphQLFormattedError {
  const inTools = message
    .replaceAll(/Variable "\$(\w+)"/g, 'Argument "$1"')
    .replaceAll(/The variable \$(\w+) of \w+/g, 'The argument "$1"')
    .replaceAll(
      / of required type "([^"]+)" was not provided/g,
      ' is missing; a value of type "$1" is required',
    );
  return { message: inTools, ...(path && { path }), ...(extensions && { extensions }) };
}

function toListed(tool: AgentTool, day: string): Tool {
  const { name, title, description, inputSchema, outputSchema } = tool;
  const examples = tool.examples(day);
  const properties = Object.entries(inputSchema.properties).map(([property, schema]) => {
    const example = examples[property];
    return [
      property,
      example === undefined || example === null ? schema : { ...schema, examples: [example] },
    ];
  });
  return {
    name,
    title,
    description,
    inputSchema: {
      ...inputSchema,
      required: [...inputSchema.required],
      properties: Object.fromEntries(properties),
    },
    outputSchema: { ...outputSchema },
    annotations: {
      title,
      readOnlyHint: !isWriting(tool),
      destructiveHint: isDestructive(tool),
      // Repeating a change is another change; repeating a query changes nothing.
      idempotentHint: !isWriting(tool),
      openWorldHint: false,
    },
  };
}

/**
 * An unknown argument would be ignored, and an agent would take the answer for one to its question.
 *
 * @throws INVALID_VALUE for an unknown argument; LIMIT_EXCEEDED for too large a page
 */
function assertArguments(tool: AgentTool, sent: Sent, { maxRows }: AnswerBounds): void {
  const known = Object.keys(tool.inputSchema.properties);
  for (const [name, value] of Object.entries(sent)) {
    if (!known.includes(name)) {
      const expected = known.length === 0 ? 'no arguments' : `one of ${known.join(', ')}`;
      const detail = `The tool has no argument of this name; expected ${expected}.${didYouMean(name, known)}`;
      throw invalidAt(detail, { parameter: name, expected });
    }
    if (!isPageSize(name) || typeof value !== 'number' || value <= maxRows) continue;
    const detail = `${name} is at most ${maxRows} here (AGENT_MAX_ROWS); go on with after.`;
    throw new ServiceError('LIMIT_EXCEEDED', detail, {
      errors: [{ parameter: name, detail, expected: `at most ${maxRows}`, sent: value }],
    });
  }
}

/** The document's default page size may exceed the limit for agents. */
function withPageSizes({ inputSchema }: AgentTool, sent: Sent): Sent {
  if (Object.keys(sent).some(isPageSize)) return sent;
  const usual = Object.entries(inputSchema.properties).flatMap(([name, schema]) =>
    isPageSize(name) && schema.default !== undefined ? [[name, schema.default] as const] : [],
  );
  return { ...Object.fromEntries(usual), ...sent };
}

function noteOf(cuts: readonly string[], { maxRows, maxBytes }: AnswerBounds): string {
  return (
    `This answer was cut to ${maxRows} rows a list and ${maxBytes} bytes in all: ${cuts.join('; ')}. ` +
    'Narrow the question by its arguments, or ask for fewer rows with first and go on with after; the ' +
    'endCursor of an answer that was cut skips what was cut off.'
  );
}

function toResource(uri: string, { text, cuts }: BoundedAnswer, mimeType: string): ReadResourceResult {
  const note = cuts.length === 0 ? '' : `\n(This answer was cut: ${cuts.join('; ')}.)\n`;
  return { contents: [{ uri, mimeType, text: text + note }] };
}

/** Whether the tool changes what is stored. */
function isWriting({ operation }: Pick<AgentTool, 'operation'>): boolean {
  return operation.operation === OperationTypeNode.MUTATION;
}

/** Whether the tool may change or remove existing data: it does more than create. */
function isDestructive(tool: Pick<AgentTool, 'operation'>): boolean {
  return isWriting(tool) && rootFieldsOf(tool).some((field) => !field.startsWith('create'));
}

function rootFieldsOf({ operation }: Pick<AgentTool, 'operation'>): readonly string[] {
  return operation.selectionSet.selections.map((selection) =>
    selection.kind === Kind.FIELD ? selection.name.value : '',
  );
}
