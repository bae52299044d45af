import cliProgress from 'cli-progress';
import { type Command, InvalidArgumentError } from 'commander';
import { DEMO_DEFAULTS, DEMO_USERS, type DemoOptions } from '../demo/demo-options.js';
import { type LoadSummary, loadDemo } from '../demo/load.js';
import { ServiceError } from '../errors.js';
import { today } from '../filter/calendar.js';
import type { Services } from '../services.js';
import { type CommandLine, operatorScope, withServices } from './command-line.js';
import { printLine } from './console.js';

const DEMO_TIME_ZONE = 'Asia/Kolkata';

/** `campus seed`: the demo school, of any size. */
export function registerSeed(program: Command, commandLine: CommandLine): void {
  program
    .command('seed')
    .description('fill in the demo school and its branch, with the demo logins')
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
    .action((options: SeedOptions) =>
      withServices(commandLine, async (services) => {
        const summary = await seedSchool(services, options);
        const rate = Math.round(summary.recordCount / (summary.durationMs / 1000));
        printLine(
          `${summary.recordCount.toLocaleString('en')} records in ${summary.domainIds.join(' and ')}, ${rate.toLocaleString('en')} a second`,
        );
      }),
    );
}

export interface SeedOptions extends Omit<DemoOptions, 'today'> {
  readonly today?: string;
  readonly replace?: boolean;
}

/**
 * Makes the demo school of a first start. Of several gateways that start at once on one database one makes it; the others
 * wait for it and go on.
 */
export async function seedFirstSchool(services: Services, options: SeedOptions): Promise<void> {
  try {
    await seedSchool(services, options);
  } catch (fault) {
    if (!(fault instanceof ServiceError) || fault.code !== 'CONFLICT') throw fault;
    await services.domains.refresh();
  }
}

/** Loads the demo school under a progress bar and gives its users their passwords, `demo-<user>`. Ctrl-C leaves nothing half loaded. */
export async function seedSchool(services: Services, options: SeedOptions): Promise<LoadSummary> {
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {percentage}% {collection}  {value} of {total}',
      stream: process.stderr,
      barsize: 30,
      hideCursor: true,
      clearOnComplete: true,
      noTTYOutput: false,
    },
    cliProgress.Presets.shades_classic,
  );
  let current = '';
  const summary = await loadDemo(services.database, services.catalog, {
    demo: { ...options, today: options.today ?? today(DEMO_TIME_ZONE, new Date()) },
    onExisting: options.replace ? 'replace' : 'refuse',
    onProgress: ({ collection, done, total }) => {
      if (collection !== current) bar.start(total, done, { collection });
      else bar.update(done, { collection });
      current = collection;
    },
  }).finally(() => bar.stop());
  await services.domains.refresh();
  for (const domainId of summary.domainIds) await setDemoPasswords(services, domainId);
  return summary;
}

async function setDemoPasswords(services: Services, domainId: string): Promise<void> {
  const scope = operatorScope(services, domainId);
  await Promise.all(
    DEMO_USERS.map(({ userName }) =>
      services.users.setPassword(scope, { userName, password: `demo-${userName}` }),
    ),
  );
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('expected a whole number above 0');
}
