/** The lines of NDJSON as they come in chunks of bytes, a batch a chunk; a line may go over several. */
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
