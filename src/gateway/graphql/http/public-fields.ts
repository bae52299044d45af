/**
 * Without a credential, a caller may log in and learns nothing else. A document that asks for more is refused
 * whether or not it is valid; otherwise the schema could be guessed name by name.
 */
import { type DocumentNode, Kind } from 'graphql';
import type { ServiceError } from '../../../base/errors.js';
import { type Incoming, isMembers, listSentMembers } from '../operation/operation-text.js';
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

function listTexts(incoming: Incoming, findText: (hash: string) => string | undefined) {
  return listSentMembers(incoming).flatMap(({ query, operationName: name, extensions }) => {
    const persisted = isMembers(extensions) ? extensions.persistedQuery : undefined;
    const hash = isMembers(persisted) ? persisted.sha256Hash : undefined;
    const operationName = typeof name === 'string' ? name : undefined;
    const texts = [query, typeof hash === 'string' ? findText(hash) : undefined];
    return texts.flatMap((text) => (typeof text === 'string' ? [{ text, operationName }] : []));
  });
}

function isPublic(document: DocumentNode): boolean {
  const fragments = fragmentsOf(document);
  return document.definitions.every(
    (definition) =>
      definition.kind !== Kind.OPERATION_DEFINITION ||
      [...fieldNames(definition.selectionSet, fragments)].every((name) => PUBLIC_FIELDS.has(name)),
  );
}
