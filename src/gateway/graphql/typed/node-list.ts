/** Records of any collections by their ids, in the order of the ids; nothing has been read yet. */

import { listShapePaths, type Member } from '../../../store/sql/shape.js';
import type { RecordForm } from '../../resolvers/records/page-shape.js';
import { PRINT, type Printable, READ } from '../../resolvers/records/printable.js';
import { byIds, type RecordResolver } from '../../resolvers/records/record-resolver.js';
import type { RequestContext } from '../../resolvers/request-context.js';

/** The records of one collection shown by one type, with the members that a document selects. */
export interface NodeGroup {
  readonly collection: string;
  readonly form: RecordForm<object>;
  readonly members: readonly Member[];
}

export interface AskedNode {
  readonly group: NodeGroup;
  readonly id: string;
}

/** One statement reads each group. A record that does not exist or that the caller may not read is null. */
export class NodeList implements Printable {
  readonly #asked: readonly (AskedNode | undefined)[];
  readonly #records: RecordResolver;
  readonly #context: RequestContext;

  /** `undefined` stands for a record that the caller cannot read. */
  constructor(
    asked: readonly (AskedNode | undefined)[],
    { records, context }: { readonly records: RecordResolver; readonly context: RequestContext },
  ) {
    this.#asked = asked;
    this.#records = records;
    this.#context = context;
  }

  async [PRINT](): Promise<string> {
    return `[${(await this.texts()).join(',')}]`;
  }

  async [READ](): Promise<readonly (object | null)[]> {
    const found = await this.#readGroups(async ({ collection, form, members }, ids) => {
      const { paths, isWholeRecord } = listShapePaths(members);
      const set = this.#records.records(this.#context, {
        collection,
        projection: isWholeRecord ? undefined : paths,
        filter: byIds(ids),
        limit: ids.length,
      });
      const { records } = await set.page();
      return new Map(records.map((record) => [record.id, form.toNode(record)]));
    });
    return found.map((record) => record ?? null);
  }

  /** The JSON text of each record. */
  async texts(): Promise<readonly string[]> {
    const found = await this.#readGroups(async ({ collection, members }, ids) => {
      const set = this.#records.records(this.#context, { collection });
      return await set.printByIds(ids, members);
    });
    return found.map((text) => text ?? 'null');
  }

  async #readGroups<T>(
    read: (group: NodeGroup, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<readonly (T | undefined)[]> {
    const idsByGroup = new Map<NodeGroup, Set<string>>();
    for (const one of this.#asked) {
      if (one === undefined) continue;
      const ids = idsByGroup.get(one.group) ?? new Set();
      idsByGroup.set(one.group, ids.add(one.id));
    }
    const groups = await Promise.all(
      [...idsByGroup].map(async ([group, ids]) => [group, await read(group, [...ids])] as const),
    );
    const found = new Map(groups);
    return this.#asked.map((one) => one && found.get(one.group)?.get(one.id));
  }
}
