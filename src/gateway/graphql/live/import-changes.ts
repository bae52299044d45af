/** The subscription `importChanged`: the progress of an import. */

import { Arg, ID, Resolver, Subscription } from 'type-graphql';
import { isOver, type StoredImport } from '../../../services/importing/stored-import.js';
import { printReady } from '../../resolvers/records/ready-value.js';
import { requireScope } from '../../resolvers/request-context.js';
import { ImportResult, toImportResult } from '../../resolvers/services/import-resolver.js';
import type { EventQueue } from './event-queue.js';
import { batchEvents, neverExecuted, type SubscribeData } from './live-context.js';

@Resolver()
export class ImportChangesResolver {
  @Subscription(() => ImportResult, {
    name: 'importChanged',
    description:
      'How an import is, at once and then whenever it has changed, some times a second at most; ends when ' +
      'the import is DONE, FAILED, CANCELLED or UNDONE. Without an id, every change of the imports that ' +
      'the query `imports` would list, without an end. Errors: NOT_FOUND.',
    subscribe: subscribeToImports,
  })
  importChanged(
    @Arg('id', () => ID, { nullable: true, description: 'The id of the import; left out, all.' })
    _id?: string | null,
  ): ImportResult {
    return neverExecuted();
  }
}

async function subscribeToImports({
  args: { id },
  context,
  info,
}: SubscribeData<{ readonly id?: string | null }>): Promise<EventQueue> {
  const { caller, imports, importNews } = context;
  const asked = id ?? undefined;
  const scope = requireScope(context);
  if (asked !== undefined) await imports.get(scope, asked);
  const queue = context.openQueue(info);
  const work = batchEvents<StoredImport>(queue, {
    overflow: 'imports changed at once',
    work: async (changed) => {
      const now = await caller.scope();
      for (const one of changed) {
        if (asked !== undefined) imports.rights.assertVisible(now, one);
        else if (!imports.rights.isVisible(now, one)) continue;
        queue.push(printReady(toImportResult(one), info));
        if (asked !== undefined && isOver(one)) queue.end();
      }
    },
  });
  queue.onEnd(
    importNews.follow((one) => {
      if (asked === undefined ? one.domainId === scope.domain.id : one.id === asked) work.add(one);
    }),
  );
  // The current state is queued like later ones, so that the order is right.
  if (asked !== undefined) importNews.look(asked);
  return queue;
}
