import type { Scope } from '../../base/model/scope.js';

/** The same chunks. @throws once the caller has lost the right to go on */
export async function* whileAllowed<Chunk>(
  chunks: AsyncIterable<Chunk>,
  scope: Scope,
): AsyncGenerator<Chunk, void> {
  for await (const chunk of chunks) {
    await scope.assertRights?.();
    yield chunk;
  }
}
