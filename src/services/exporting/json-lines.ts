/**
 * Yields the lines of NDJSON from chunks of bytes, one batch for each chunk. A line may span several chunks.
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[], void> {
  let begun = '';
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split('\n');
    begun = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
}
