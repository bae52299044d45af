/**
 * Without a credential, a caller may log in and learns nothing else. A document that asks for more is refused
 * whether or not it is valid; otherwise the schema could be guessed name by name.
 */
import { type DocumentNode, type FragmentDefinitionNode, Kind, parse, type SelectionSetNode } from 'graphql';
import type { ServiceError } from '../../../base/errors.js';
import type { Incoming } from '../operation/operation-text.js';
import { isMembers } from '../operation/operation-text.js';

/** The root fields for everybody. A rule of its own refuses introspection, with a message of its own. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  ...['__typename', '__schema', '__type', 'login', 'refresh'],
  // Whoever uses a link has no password yet.
  ...['accountLink', 'useAccountLink', 'firstRun', 'makeSchool'],
]);

/**
 * Refuses a request without a credential unless each of its documents selects only public fields. Documents
 * with syntax errors pass: their errors disclose nothing of the schema.
 *
 * @throws the error that `refusal` creates
 */
export function assertPublicFields(
  incoming: Incoming,
  options: {
    readonly maxTokens: number;
    /** The text of a hash, if known. */
    readonly findText: (hash: string) => string | undefined;
    readonly refusal: () => ServiceError;
  },
): void {
  for (const text of listTexts(incoming, options.findText)) {
    const document = tryToParse(text, options.maxTokens);
    if (document !== undefined && !isPublic(document)) throw options.refusal();
  }
}

function listTexts({ method, body, search }: Incoming, findText: (hash: string) => string | undefined) {
  const sent = method === 'GET' ? ofSearch(search) : body;
  const requests: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  return requests.flatMap((request): string[] => {
    if (!isMembers(request)) return [];
    const hash = hashIn(request.extensions);
    const texts = [request.query, hash === undefined ? undefined : findText(hash)];
    return texts.filter((text) => typeof text === 'string');
  });
}

function ofSearch(search: string): unknown {
  const parameters = new URLSearchParams(search);
  return { query: parameters.get('query'), extensions: parameters.get('extensions') };
}

function hashIn(extensions: unknown): string | undefined {
  const members = typeof extensions === 'string' ? tryToRead(extensions) : extensions;
  const persisted = isMembers(members) ? members.persistedQuery : undefined;
  return isMembers(persisted) && typeof persisted.sha256Hash === 'string' ? persisted.sha256Hash : undefined;
}

function tryToRead(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function tryToParse(text: string, maxTokens: number): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens, noLocation: true });
  } catch {
    return undefined;
  }
}

function isPublic(document: DocumentNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  return document.definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      rootFields(definition.selectionSet, fragments).every((name) => PUBLIC_FIELDS.has(name)),
  );
}

/** Visits each fragment once: before validation, fragments may form cycles. */
function rootFields(
  selectionSet: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): readonly string[] {
  return selectionSet.selections.flatMap((selection): readonly string[] => {
    if (selection.kind === Kind.FIELD) return [selection.name.value];
    if (selection.kind === Kind.INLINE_FRAGMENT) return rootFields(selection.selectionSet, fragments);
    const fragment = fragments.get(selection.name.value);
    fragments.delete(selection.name.value);
    return fragment === undefined ? [] : rootFields(fragment.selectionSet, fragments);
  });
}
