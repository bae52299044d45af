/** The subscriptions to topics, imports and reports. Those to records are made in typed/record-fields.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import { Batcher } from '../../../base/process/batcher.js';
import { member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import type { Report } from '../../../school/reports/engine/report.js';
import { reports } from '../../../school/reports/registry.js';
import { isOver, type StoredImport } from '../../../services/importing/stored-import.js';
import type { TopicMessage } from '../../../services/messaging/topics.js';
import type { RecordChange } from '../../../store/changes/commit-follower.js';
import { printReadyValue } from '../../resolvers/records/ready-value.js';
import { requireScope } from '../../resolvers/request-context.js';
import { createResolverClass } from '../../resolvers/run-time-types.js';
import { ImportResult, toImportResult } from '../../resolvers/services/import-resolver.js';
import type { EventQueue } from './event-queue.js';
import { batchEvents, neverExecuted, type SubscribeData } from './live-context.js';

const TopicEvent = objectType('TopicMessage', 'A message published to a topic.', {
  id: member.id('Names the message; the same for every subscriber.'),
  topic: member.text('The topic.'),
  message: nullable.json('The published value.'),
  publishedAt: member.instant('When it was published.'),
});

export const LiveResolver = createResolverClass([
  {
    kind: 'subscription',
    name: 'topic',
    description:
      'Messages published to a topic of your domain from now on. Open to admins, and to the roles ' +
      'that the property `topicRoles` of the domain names for it.',
    type: TopicEvent,
    arguments: { name: member.text('The topic, e.g. "notices".') },
    run: neverExecuted,
    subscribe: subscribeToTopic,
  },
]);

/**
 * Each message is sent under the current rights of the subscriber. @throws FORBIDDEN, INVALID_VALUE as
 * `Topics.assertMayListen` does
 */
async function subscribeToTopic({
  args,
  context,
  info,
}: SubscribeData<{ readonly name: string }>): Promise<EventQueue> {
  const { topics, caller } = context;
  const { domain } = assertMayListen(requireScope(context));
  const queue = context.openQueue(info);
  const work = batchEvents<TopicMessage>(queue, {
    overflow: `messages came to the topic "${args.name}" at once`,
    work: async (messages) => {
      assertMayListen(await caller.scope());
      for (const { id, topic, message, at } of messages)
        queue.push(printReadyValue({ id, topic, message, publishedAt: at }, info));
    },
  });
  const { ready, stop } = topics.follow(domain.id, args.name, (message) => work.add(message));
  queue.onEnd(stop);
  await ready;
  return queue;

  function assertMayListen(scope: ReturnType<typeof requireScope>): ReturnType<typeof requireScope> {
    topics.assertMayListen(scope, args.name);
    return scope;
  }
}

async function subscribeToImports({
  args: { id },
  context,
  info,
}: SubscribeData<{ readonly id?: string | null }>): Promise<EventQueue> {
  const { caller, imports, importNews } = context;
  const importId = id ?? undefined;
  const scope = requireScope(context);
  if (importId !== undefined) await imports.get(scope, importId);
  const queue = context.openQueue(info);
  const work = batchEvents<StoredImport>(queue, {
    overflow: 'imports changed at once',
    work: async (changed) => {
      const now = await caller.scope();
      for (const one of changed) {
        if (importId !== undefined) imports.rights.assertVisible(now, one);
        else if (!imports.rights.isVisible(now, one)) continue;
        queue.push(printReadyValue(toImportResult(one), info));
        if (importId !== undefined && isOver(one)) queue.end();
      }
    },
  });
  queue.onEnd(
    importNews.follow((one) => {
      if (importId === undefined ? one.domainId === scope.domain.id : one.id === importId) work.add(one);
    }),
  );
  // The current state is queued like later ones, so that the order is right.
  if (importId !== undefined) importNews.look(importId);
  return queue;
}

const ReportChangeEvent = objectType(
  'ReportChange',
  'Records that a report reads have changed: run it again.',
  {
    report: member.text('The name of the report, e.g. "fee-defaulters".'),
    collections: member.texts('The collections whose records have changed.'),
    changedAt: member.instant('When the last of them was changed.'),
  },
);

/** The shortest interval, so that a bulk load does not make a dashboard run the report for every record. */
const INTERVAL_MS = 1_000;

/** The subscriptions to reports and imports, which the schema shows before those to records. */
export const StateChangesResolver = createResolverClass([
  {
    kind: 'subscription',
    name: 'reportChanged',
    description:
      'Tells, at most once a second, that records a report reads have changed, whatever its ' +
      'parameters are. For the roles that may run the report.',
    type: ReportChangeEvent,
    arguments: { report: member.text('The report by its name or its field, e.g. "feeDefaulters".') },
    run: neverExecuted,
    subscribe: subscribeToReport,
  },
  {
    kind: 'subscription',
    name: 'importChanged',
    description:
      'The state of an import, at once and after each change, at most a few times a second; ends when ' +
      'the import is DONE, FAILED, CANCELLED or UNDONE. Without an id, every change of the imports that ' +
      'the query `imports` would list, without an end. Errors: NOT_FOUND.',
    type: ImportResult,
    arguments: { id: nullable.id('The id of the import; left out, all.') },
    run: neverExecuted,
    subscribe: subscribeToImports,
  },
]);

async function subscribeToReport({
  args,
  context,
  info,
}: SubscribeData<{ readonly report: string }>): Promise<EventQueue> {
  const report = getReport(args.report);
  const scope = requireScope(context);
  report.assertAllowed(scope);
  const queue = context.openQueue(info);
  // Announces changes at once, and those of the next interval together.
  const news = new Batcher<RecordChange>({
    takeNext: (waiting) => waiting.splice(0),
    concurrency: 1,
    work: async (changes) => {
      try {
        report.assertAllowed(await context.caller.scope());
        queue.push(printReadyValue(toReportChange(report, changes), info));
        await sleep(INTERVAL_MS, undefined, { ref: false });
      } catch (error) {
        queue.fail(error);
      }
    },
  });
  const stop = await context.feed.follow((changes) => {
    for (const change of changes) {
      if (change.domainId === scope.domain.id && report.reads.includes(change.collection)) news.add(change);
    }
  });
  queue.onEnd(() => {
    stop();
    news.clear();
  });
  return queue;
}

function toReportChange({ name }: Report, changes: readonly RecordChange[]) {
  const collections = [...new Set(changes.map(({ collection }) => collection))].sort();
  const changedAt = new Date(changes.reduce((latest, { at }) => Math.max(latest, at.getTime()), 0));
  return { report: name, collections, changedAt };
}

/** @throws NOT_FOUND with a suggestion */
function getReport(name: string): Report {
  const report = reports.find((one) => one.name === name || one.field === name);
  if (report) return report;
  const known = reports.map((one) => one.name);
  throw new ServiceError('NOT_FOUND', `there is no report "${name.slice(0, 64)}".${didYouMean(name, known)}`);
}
