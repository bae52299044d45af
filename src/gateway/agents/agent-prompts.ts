/**
 * Questions that assistants offer to their users, declared in schema/prompts, and the completion of their
 * arguments and of the addresses of resources.
 */
import type { CompleteResult, GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import { invalidAt, ServiceError } from '../../base/errors.js';
import { today } from '../../base/model/calendar.js';
import { printResult } from '../../base/scalars/json-text.js';
import { didYouMean } from '../../base/text/did-you-mean.js';
import { fillVariables } from '../../portal/explore/example-operation.js';
import type { OwnDocuments } from '../graphql/graphql-server.js';
import { assertIntrospectionRole } from '../graphql/limits/permitted.js';
import type { GraphqlCaller } from '../graphql/operation/prepared-operation.js';
import { requireScope } from '../resolvers/request-context.js';
import type { AgentTools } from './agent-tools.js';

/** A declaration; schema/prompts/prompt.schema.json explains each key. */
export interface PromptDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly arguments?: readonly PromptArgument[];
  readonly text: readonly string[];
}

interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly default?: string;
  readonly values?: readonly string[];
  readonly from?: { readonly collection: string; readonly field: string };
}

interface PromptServices {
  readonly definitions: readonly PromptDefinition[];
  readonly tools: Pick<AgentTools, 'namesFor'>;
  readonly documents: Pick<OwnDocuments, 'answer' | 'reachOf' | 'schemaFor' | 'introspectionRoles'>;
  readonly now: () => Date;
}

/** The most values that the protocol allows. */
const MOST_VALUES = 100;

const VALUES_OF_FIELD = `query CompleteArgument($name: String!, $field: String!, $where: JSON!) {
  records(collection: $name, where: $where, project: [$field], orderBy: [{ field: $field }], first: 100) {
    nodes { data }
    pageInfo { hasNextPage }
  }
}`;

interface RecordsFound {
  readonly records: {
    readonly nodes: readonly { readonly data: Readonly<Record<string, unknown>> }[];
    readonly pageInfo: { readonly hasNextPage: boolean };
  };
}

export class AgentPrompts {
  readonly #services: PromptServices;

  constructor(services: PromptServices) {
    this.#services = services;
  }

  /** The prompts whose tools the caller may all use. @throws UNAUTHENTICATED */
  list({ context }: GraphqlCaller): readonly Prompt[] {
    const names = this.#services.tools.namesFor(context);
    return this.#services.definitions
      .filter(({ tools }) => tools.every((tool) => names.has(tool)))
      .map(({ name, title, description, arguments: args = [] }) => ({
        ...{ name, title, description },
        arguments: args.map((one) => ({
          name: one.name,
          description: one.description,
          required: one.required,
        })),
      }));
  }

  /** @throws NOT_FOUND; INVALID_VALUE for an unknown argument, or without a required one */
  get(caller: GraphqlCaller, name: string, sent: Readonly<Record<string, string>>): GetPromptResult {
    const { description, arguments: declared = [], text } = this.#find(caller, name);
    const known = declared.map((one) => one.name);
    const unknown = Object.keys(sent).find((one) => !known.includes(one));
    if (unknown !== undefined) {
      throw wrong(unknown, `The prompt has no such argument.${didYouMean(unknown, known)}`, known.join(', '));
    }
    const values = new Map(
      declared.map((one) => [one.name, sent[one.name]?.trim() || this.#filled(caller, one.default)] as const),
    );
    for (const { name: argument, required, description: expected } of declared) {
      if (required && values.get(argument) === undefined)
        throw wrong(argument, 'The prompt needs this argument.', expected);
    }
    const lines = text.filter((line) =>
      [...line.matchAll(PLACE)].every(([, one = '']) => values.get(one) !== undefined),
    );
    const filled = lines.map((line) => line.replaceAll(PLACE, (_, one: string) => values.get(one) ?? ''));
    return {
      description,
      messages: [{ role: 'user', content: { type: 'text', text: filled.join('\n') } }],
    };
  }

  /**
   * At most a hundred values that begin with the written text, as far as the caller may know them.
   *
   * @throws NOT_FOUND for a prompt; FORBIDDEN for types, to callers who may not introspect
   */
  async complete(
    caller: GraphqlCaller,
    ref: { readonly name?: string; readonly uri?: string },
    { name, value }: { readonly name: string; readonly value: string },
  ): Promise<CompleteResult['completion']> {
    const { documents } = this.#services;
    const { context } = caller;
    if (ref.uri === 'campus://collections/{name}') {
      const names = documents.reachOf(context).collections.map(({ collection }) => collection.name);
      return beginning(value, names);
    }
    if (ref.uri === 'campus://schema/{type}') {
      assertIntrospectionRole(context, documents.introspectionRoles);
      const names = Object.keys(documents.schemaFor(context).getTypeMap());
      return beginning(
        value,
        names.filter((one) => !one.startsWith('__')),
      );
    }
    if (ref.name === undefined) return beginning(value, []);
    const { arguments: declared = [] } = this.#find(caller, ref.name);
    const argument = declared.find((one) => one.name === name);
    if (argument?.from) return await this.#complete(caller, argument.from, value);
    return beginning(
      value,
      (argument?.values ?? []).map((one) => this.#filled(caller, one) ?? one),
    );
  }

  async #complete(
    caller: GraphqlCaller,
    { collection, field }: { readonly collection: string; readonly field: string },
    value: string,
  ): Promise<CompleteResult['completion']> {
    const condition = value === '' ? { isNull: false } : { startsWith: value, mode: 'insensitive' };
    const variables = { name: collection, field, where: { [field]: condition } };
    const { result } = await this.#services.documents.answer(VALUES_OF_FIELD, { caller, variables });
    // A caller who may not read the records gets no values.
    if (result.errors) return beginning(value, []);
    const { records } = JSON.parse(printResult(result.data)) as RecordsFound;
    const values = records.nodes.flatMap(({ data }) => {
      const found = data[field];
      return typeof found === 'string' ? [found] : [];
    });
    return { values: [...new Set(values)], hasMore: records.pageInfo.hasNextPage };
  }

  /** @throws NOT_FOUND */
  #find(caller: GraphqlCaller, name: string): PromptDefinition {
    const names = this.list(caller).map((one) => one.name);
    const found = names.includes(name) && this.#services.definitions.find((one) => one.name === name);
    if (found) return found;
    throw new ServiceError('NOT_FOUND', `There is no such prompt.${didYouMean(name, names)}`);
  }

  /** The text with the days that it names, in the zone of the caller's domain. */
  #filled({ context }: GraphqlCaller, text: string | undefined): string | undefined {
    const { timeZone } = requireScope(context).domain;
    return text && String(fillVariables({ text }, today(timeZone, this.#services.now())).text);
  }
}

const PLACE = /\{\{(\w+)\}\}/g;

function beginning(value: string, all: readonly string[]): CompleteResult['completion'] {
  const start = value.toLowerCase();
  const found = all.filter((one) => one.toLowerCase().startsWith(start)).toSorted();
  const hasMore = found.length > MOST_VALUES;
  return { values: found.slice(0, MOST_VALUES), total: found.length, hasMore };
}

function wrong(parameter: string, detail: string, expected: string): ServiceError {
  return invalidAt(`${parameter}: ${detail}`, { parameter, detail, expected });
}
