/** Documents known to be valid, by text: clients send the same few all day. */
import { LRUCache } from 'lru-cache';
import type { ReadyOperation } from './operation-request.js';

/** Characters of the documents that are kept. */
const MAX_LENGTH = 4_000_000;

/** One per schema: a document is valid for one schema only. */
export class RepeatedDocuments {
  readonly #byText = new LRUCache<string, ReadyOperation>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (_ready, key) => key.length,
  });

  find(text: string, operationName: string | undefined): ReadyOperation | undefined {
    return this.#byText.get(keyOf(text, operationName));
  }

  keep(
    text: string,
    operationName: string | undefined,
    { schema, document, operation }: ReadyOperation,
  ): void {
    this.#byText.set(keyOf(text, operationName), { schema, document, operation });
  }
}

/** No valid document begins with a digit, so two different pairs cannot have the same key. */
function keyOf(text: string, operationName: string | undefined): string {
  return operationName === undefined ? text : `${operationName.length}:${operationName}${text}`;
}
