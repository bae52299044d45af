/**
 * The subscription `reportChanged`: a dashboard learns that the data of a report has changed, and runs it
 * again.
 */

import { Arg, Resolver, Subscription } from 'type-graphql';
import { ServiceError } from '../../../base/errors.js';
import { member, objectType, type ValueOf } from '../../../base/scalars/declared-type.js';
import { didYouMean } from '../../../base/text/did-you-mean.js';
import type { Report } from '../../../school/reports/engine/report.js';
import { rightsOf } from '../../../school/reports/engine/report-rights.js';
import { reports } from '../../../school/reports/registry.js';
import { REPORT_COLLECTIONS } from '../../../school/reports/report-collections.js';
import type { RecordChange } from '../../../store/changes/commit-follower.js';
import { printReady } from '../../resolvers/records/ready-value.js';
import { requireScope } from '../../resolvers/request-context.js';
import type { EventQueue } from './event-queue.js';
import { neverExecuted, type SubscribeData } from './live-context.js';

export const ReportChangeEvent = objectType(
  'ReportChange',
  'Records that a report reads have changed: run it again.',
  {
    report: member.text('The name of the report, e.g. "fee-defaulters".'),
    collections: member.texts('The collections whose records have changed.'),
    changedAt: member.instant('When the last of them was changed.'),
  },
);
export type ReportChangeEvent = ValueOf<typeof ReportChangeEvent>;

/** The shortest interval, so that a bulk load does not make a dashboard run the report for every record. */
const INTERVAL_MS = 1_000;

@Resolver()
export class ReportChangesResolver {
  @Subscription(() => ReportChangeEvent, {
    name: 'reportChanged',
    description:
      'Tells, at most once a second, that records a report reads have changed, whatever its ' +
      'parameters are. For the roles that may run the report.',
    subscribe: subscribeToReport,
  })
  reportChanged(
    @Arg('report', () => String, {
      description: 'The report by its name or its field, e.g. "feeDefaulters".',
    })
    _report: string,
  ): ReportChangeEvent {
    return neverExecuted();
  }
}

async function subscribeToReport({
  args,
  context,
  info,
}: SubscribeData<{ readonly report: string }>): Promise<EventQueue> {
  const report = getReport(args.report);
  const scope = requireScope(context);
  rightsOf(report, scope);
  const queue = context.openQueue(info);
  const news = new ReportNews(async (collections, changedAt) => {
    try {
      rightsOf(report, await context.caller.scope());
      queue.push(printReady({ report: report.name, collections, changedAt }, info));
    } catch (error) {
      queue.fail(error);
    }
  });
  const read = REPORT_COLLECTIONS[report.name] ?? [];
  const stop = await context.feed.follow((changes) => {
    for (const change of changes) {
      if (change.domainId === scope.domain.id && read.includes(change.collection)) news.add(change);
    }
  });
  queue.onEnd(() => {
    stop();
    news.stop();
  });
  return queue;
}

/** Debounces changes: announces them at once, then not again for a while. */
class ReportNews {
  readonly #tell: (collections: readonly string[], changedAt: Date) => Promise<void>;
  readonly #collections = new Set<string>();
  #changedAt = new Date(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (collections: readonly string[], changedAt: Date) => Promise<void>) {
    this.#tell = tell;
  }

  add({ collection, at }: RecordChange): void {
    this.#collections.add(collection);
    if (at > this.#changedAt) this.#changedAt = at;
    // The timer runs after this call, so that simultaneous changes are announced together.
    this.#timer ??= setTimeout(() => this.#flush(), 0);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    if (this.#collections.size === 0) {
      this.#timer = undefined;
      return;
    }
    const collections = [...this.#collections].sort();
    this.#collections.clear();
    this.#timer = setTimeout(() => this.#flush(), INTERVAL_MS);
    void this.#tell(collections, this.#changedAt);
  }
}

/** @throws NOT_FOUND with a suggestion */
function getReport(name: string): Report {
  const report = reports.find((one) => one.name === name || one.field === name);
  if (report) return report;
  const known = reports.map((one) => one.name);
  throw new ServiceError('NOT_FOUND', `there is no report "${name.slice(0, 64)}".${didYouMean(name, known)}`);
}
