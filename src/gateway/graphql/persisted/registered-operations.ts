/** The only documents that a production gateway answers: those in a folder of `.graphql` files. */
import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { PersistedQueryOptions } from '@apollo/server';
import { type DocumentNode, GraphQLError, Kind, parse, print } from 'graphql';
import { LRUCache } from 'lru-cache';
import { ConfigError, ServiceError } from '../../../base/errors.js';
import { isJsonObject } from '../../../base/json/json.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';

/** The parts of a request that identify a document. */
export interface SentOperation {
  readonly query?: unknown;
  readonly operationName?: unknown;
  readonly extensions?: unknown;
}

export class RegisteredOperations {
  readonly #texts: ReadonlySet<string>;
  readonly #textsById: ReadonlyMap<string, string>;
  readonly #textsByName: ReadonlyMap<string, string>;

  constructor(documents: readonly RegisteredDocument[]) {
    this.#texts = new Set(documents.flatMap((document) => document.texts));
    this.#textsById = new Map([...this.#texts].map((text) => [hash('sha256', text), text]));
    this.#textsByName = new Map(
      documents.flatMap(({ names, texts: [text = ''] }) => names.map((name) => [name, text] as const)),
    );
  }

  /**
   * The text to run, for a request by the registered text, its id (`extensions.persistedQuery.sha256Hash`),
   * or the name of its operation.
   *
   * @throws FORBIDDEN (403) for anything else
   */
  getText(sent: SentOperation): string {
    const text = this.findText(sent);
    if (text !== undefined) return text;
    const { query, operationName: name } = sent;
    if (typeof query === 'string') throw refused('The document is not one of them.');
    const id = hashIn(sent.extensions);
    if (id !== undefined) throw refused(`None has the id ${JSON.stringify(id.slice(0, 64))}.`);
    if (typeof name !== 'string') throw refused('The request names none.');
    const suggestion = didYouMean(name, this.#textsByName.keys());
    throw refused(`None is called ${JSON.stringify(name.slice(0, 64))}.${suggestion}`);
  }

  /** Like `getText`, but `undefined` for anything else. */
  findText({ query, operationName: name, extensions }: SentOperation): string | undefined {
    if (typeof query === 'string') return this.#texts.has(query) ? query : undefined;
    const id = hashIn(extensions);
    if (id !== undefined) return this.#textsById.get(id);
    return typeof name === 'string' ? this.#textsByName.get(name) : undefined;
  }
}

function refused(reason: string): ServiceError {
  return new ServiceError(
    'FORBIDDEN',
    `This gateway answers only registered operations. ${reason} Send the exact text of one, the ` +
      'SHA-256 of it as extensions.persistedQuery.sha256Hash, or its operationName.',
  );
}

/** A file, whose operations share its fragments. */
interface RegisteredDocument {
  /** First the text of the file; then the variants of clients that trim it, or parse and print it. */
  readonly texts: readonly string[];
  readonly names: readonly string[];
}

/**
 * Reads a file, or all `.graphql` files in a folder and its subfolders.
 *
 * @throws ConfigError for the operator: nothing found, a syntax error with its position, an unnamed
 *   operation, or a duplicate name
 */
export async function readRegisteredOperations(location: string): Promise<RegisteredOperations> {
  const files = await listFiles(location);
  if (files.length === 0) throw refusedAtStart(`${location} has no .graphql file`);
  const documents = await Promise.all(
    files.map(async (file) => readDocument(file, await readFile(file, 'utf8'))),
  );
  const names = documents.flatMap((document) => document.names);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refusedAtStart(`${location} has two operations called ${twice}`);
  return new RegisteredOperations(documents);
}

function refusedAtStart(reason: string): ConfigError {
  return new ConfigError(`REGISTERED_OPERATIONS: ${reason}`);
}

async function listFiles(location: string): Promise<readonly string[]> {
  const found = await stat(location).catch(() => undefined);
  if (!found) throw refusedAtStart(`there is no file or folder ${location}`);
  if (!found.isDirectory()) return [location];
  const entries = await readdir(location, { recursive: true });
  return entries
    .filter((entry) => entry.endsWith('.graphql'))
    .map((entry) => path.join(location, entry))
    .sort();
}

function readDocument(file: string, text: string): RegisteredDocument {
  const document = parseFile(file, text);
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  if (operations.length === 0) throw refusedAtStart(`${file} has no operation`);
  const names = operations.map(({ name }) => {
    if (!name) throw refusedAtStart(`${file} has an operation without a name`);
    return name.value;
  });
  return { texts: [text, text.trim(), print(document)], names };
}

function parseFile(file: string, text: string): DocumentNode {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const [place] = error.locations ?? [];
    throw refusedAtStart(`${file}:${place?.line ?? 1}:${place?.column ?? 1}: ${error.message}`);
  }
}

/** The hash that identifies a document, in the form of Apollo's persisted queries. */
export function hashIn(extensions: unknown): string | undefined {
  const persisted = isJsonObject(extensions) ? extensions.persistedQuery : undefined;
  const hash = isJsonObject(persisted) ? persisted.sha256Hash : undefined;
  return typeof hash === 'string' ? hash : undefined;
}

/** Apollo's prefix of each hash. */
const PREFIX = 'apq:';

export class PersistedQueries {
  readonly #texts: LRUCache<string, string>;

  /** `maxLength` is the total number of characters. */
  constructor(options: { readonly maxLength: number }) {
    this.#texts = new LRUCache({
      maxSize: options.maxLength,
      sizeCalculation: (text, hash) => text.length + hash.length,
    });
  }

  /** The text with this SHA-256, which Apollo verified when the text was sent. */
  find(hash: string): string | undefined {
    return this.#texts.get(hash);
  }

  /** The same store, in the form Apollo uses. */
  get cache(): NonNullable<PersistedQueryOptions['cache']> {
    return {
      get: async (key) => this.#texts.get(hashOf(key)),
      set: async (key, text) => {
        this.#texts.set(hashOf(key), text);
      },
      delete: async (key) => this.#texts.delete(hashOf(key)),
    };
  }
}

function hashOf(key: string): string {
  return key.startsWith(PREFIX) ? key.slice(PREFIX.length) : key;
}
