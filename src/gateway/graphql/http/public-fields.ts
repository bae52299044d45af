/**
 * Without a credential, a caller may log in and learns nothing else. A document that asks for more is refused
 * whether or not it is valid; otherwise the schema could be guessed name by name.
 */
import { type DocumentNode, Kind } from 'graphql';
import type { ServiceError } from '../../../base/errors.js';
import { type Incoming, isMembers } from '../operation/operation-text.js';
import { fieldNames, fragmentsOf } from '../operation/prepared-operation.js';
import type { ServedSchema } from '../operation/served-schema.js';

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
    readonly served: Pick<ServedSchema, 'documentOf'>;
    /** The text of a hash, if known. */
    readonly findText: (hash: string) => string | undefined;
    readonly refusal: () => ServiceError;
  },
): void {
  for (const { text, operationName } of listTexts(incoming, options.findText)) {
    const document = options.served.documentOf(text, operationName);
    if (document !== undefined && !isPublic(document)) throw options.refusal();
  }
}

function listTexts({ method, body, search }: Incoming, findText: (hash: string) => string | undefined) {
  const sent = method === 'GET' ? ofSearch(search) : body;
  const requests: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  return requests.flatMap((request) => {
    if (!isMembers(request)) return [];
    const hash = hashIn(request.extensions);
    const operationName = typeof request.operationName === 'string' ? request.operationName : undefined;
    const texts = [request.query, hash === undefined ? undefined : findText(hash)];
    return texts.flatMap((text) => (typeof text === 'string' ? [{ text, operationName }] : []));
  });
}

function ofSearch(search: string): unknown {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries(
    ['query', 'operationName', 'extensions'].map((name) => [name, parameters.get(name)]),
  );
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

function isPublic(document: DocumentNode): boolean {
  const fragments = fragmentsOf(document);
  return document.definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      [...fieldNames(definition.selectionSet, fragments)].every((name) => PUBLIC_FIELDS.has(name)),
  );
}
