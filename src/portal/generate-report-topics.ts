/**
 * Generates a module of `src/generated/portal` with the topic of each report in the operations library, by
 * which the portal groups its list of reports.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Kind, parse } from 'graphql';
import type { ExampleOperation } from './explore/example-operation.js';
import { loadOperationsLibrary } from './explore/operations-library.js';

export async function generateReportTopics(operationsDirectory: string, target: string): Promise<void> {
  const topics = topicsByField(await loadOperationsLibrary(operationsDirectory));
  await mkdir(path.dirname(target), { recursive: true });
  const printed = JSON.stringify(Object.fromEntries(topics), null, 1);
  await writeFile(
    target,
    '/** The topic of a report, by its field; in the order of the operations library. */\n' +
      `export const REPORT_TOPICS: Readonly<Record<string, string>> = ${printed};\n`,
  );
}

/**
 * The topics by the first field of each example; of several examples with the same field, the first counts.
 */
export function topicsByField(
  library: readonly Pick<ExampleOperation, 'document' | 'topic'>[],
): ReadonlyMap<string, string> {
  const topics = new Map<string, string>();
  for (const { document, topic } of library) {
    const [operation] = parse(document).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const selection of operation.selectionSet.selections) {
      if (selection.kind !== Kind.FIELD || topics.has(selection.name.value)) continue;
      topics.set(selection.name.value, topic);
    }
  }
  return topics;
}
