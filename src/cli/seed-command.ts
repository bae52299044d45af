import { type Command, InvalidArgumentError } from 'commander';
import { ServiceError } from '../base/errors.js';
import { today } from '../base/model/calendar.js';
import type { Services } from '../gateway/compose/services.js';
import { DEMO_DEFAULTS, DEMO_USERS, type DemoOptions } from '../school/demo/demo-options.js';
import { type LoadSummary, loadDemo } from '../school/demo/load.js';
import { TIME_ZONE } from '../school/demo/school-plan.js';
import { type CommandLine, withServices } from './command-line.js';
import { printLine } from './console-output.js';
import { listenForStopSignal } from './stop-signal.js';
import { showTransferProgress, type TransferProgress } from './transfer-progress.js';

/** `campus seed`: the demo school, of any size. */
export function registerSeedCommand(command: Command, commandLine: CommandLine): void {
  command
    .option('--students <n>', 'students of the school', wholeNumber, DEMO_DEFAULTS.students)
    .option('--years <n>', 'sessions up to the running one', wholeNumber, DEMO_DEFAULTS.years)
    .option(
      '--seed <n>',
      'the same seed, day and sizes make the same school',
      wholeNumber,
      DEMO_DEFAULTS.seed,
    )
    .option('--today <day>', 'YYYY-MM-DD: nothing of the school is later; default: today')
    .option('--replace', 'remove the records the demo domains have')
    .action((options: Omit<SeedOptions, 'signal' | 'progress'>) => {
      const signal = listenForStopSignal();
      return withServices({ ...commandLine, signal }, async (services) => {
        const summary = await seedSchool(services, { ...options, signal });
        const rate = Math.round(summary.recordCount / (summary.durationMs / 1000));
        printLine(
          `${summary.recordCount.toLocaleString('en')} records in ` +
            `${summary.domainIds.join(' and ')}, ${rate.toLocaleString('en')} a second`,
        );
      });
    });
}

export interface SeedOptions extends Omit<DemoOptions, 'today'> {
  readonly today?: string;
  readonly replace?: boolean;
  /** When aborted, the loaded records are removed, and the seed throws its reason. */
  readonly signal?: AbortSignal;
  /** Default: on standard error. */
  readonly progress?: TransferProgress | undefined;
}

/**
 * Makes the demo school of a first start. Of several gateways that start at once on one database one makes
 * it; the others wait for it and go on.
 */
export async function seedFirstSchool(services: Services, options: SeedOptions): Promise<void> {
  try {
    await seedSchool(services, options);
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.code !== 'CONFLICT') throw fault;
    await services.domains.refresh();
  }
}

/**
 * Loads the demo school and its users with their passwords, `demo-<user>`, in one transaction, and shows how
 * it is coming along. What ends it before its end, a signal or a `kill -9`, leaves nothing.
 */
export async function seedSchool(services: Services, options: SeedOptions): Promise<LoadSummary> {
  const progress = options.progress ?? showTransferProgress('seeding', 'records');
  const summary = await loadDemo(services.database, services.catalog, {
    demo: { ...options, today: options.today ?? today(TIME_ZONE, new Date()) },
    onExisting: options.replace ? 'replace' : 'refuse',
    passwordHashes: await hashDemoPasswords(services),
    onProgress: ({ collection: stage, ...step }) => progress.show({ stage, ...step }),
    onStage: (stage) => progress.note(stage),
    ...(options.signal && { signal: options.signal }),
  }).finally(() => progress.stop());
  await services.domains.refresh();
  return summary;
}

async function hashDemoPasswords({ passwords }: Services): Promise<ReadonlyMap<string, string>> {
  const hashes = await Promise.all(
    DEMO_USERS.map(async ({ userName }) => [userName, await passwords.hash(`demo-${userName}`)] as const),
  );
  return new Map(hashes);
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('expected a whole number above 0');
}
