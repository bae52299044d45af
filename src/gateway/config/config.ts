/**
 * Every setting of the service: its environment variable, type, default and meaning. `.env.example` is
 * printed from this list (`npm run print`), and nothing else reads the environment.
 */
import { ConfigError } from '../../base/errors.js';
import { rolesSetting, type Setting, type SettingValues, variableOf } from '../../base/settings.js';
import { findNearest } from '../../base/text/did-you-mean.js';
import { BACKUP_SETTINGS } from '../../services/backup/backup-settings.js';
import { FILE_SETTINGS } from '../../services/files/file-settings.js';
import { IMPORT_SETTINGS } from '../../services/importing/import-settings.js';
import { MESSAGE_SETTINGS } from '../../services/messaging/message-settings.js';
import { SCRIPT_SETTINGS } from '../../services/scripting/script-settings.js';
import { DATABASE_SETTINGS } from './database-settings.js';
import { GRAPHQL_SETTINGS } from './graphql-settings.js';
import { LOGIN_SETTINGS } from './login-settings.js';
import { SERVER_SETTINGS } from './server-settings.js';

const SETTINGS = {
  ...SERVER_SETTINGS,
  ...DATABASE_SETTINGS,
  ...LOGIN_SETTINGS,
  ...GRAPHQL_SETTINGS,
  ...MESSAGE_SETTINGS,
  ...FILE_SETTINGS,
  ...IMPORT_SETTINGS,
  ...SCRIPT_SETTINGS,
  ...BACKUP_SETTINGS,
} as const satisfies Record<string, Setting>;

export type Config = SettingValues<typeof SETTINGS>;

/**
 * Reads the settings from an environment. An empty variable counts as not set.
 *
 * @throws ConfigError that names every variable at fault
 */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    const written = environment[variableOf(name)];
    const parsed = setting.schema.safeParse(
      written === undefined || written === '' ? setting.default : written,
    );
    if (parsed.success) values[name] = parsed.data;
    else
      faults.push(
        `${variableOf(name)}: ${parsed.error.issues.map((issue) => issue.message).join(', ')} ` +
          `(${setting.meaning})`,
      );
  }
  if (faults.length === 0) faults.push(...findContradictions(values as Config));
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return values as Config;
}

/** Conflicts between settings that are valid individually. */
function findContradictions(config: Config): string[] {
  const faults: string[] = [];
  if (config.oidcIssuer !== undefined && (!config.oidcClientId || !config.publicUrl))
    faults.push('OIDC_ISSUER: needs OIDC_CLIENT_ID and PUBLIC_URL');
  if (config.metricsPort !== undefined && config.metricsPort !== 0 && config.metricsPort === config.port)
    faults.push('METRICS_PORT: is PORT, too; expected another one, or unset, so that PORT serves /metrics');
  if (config.backupSchedule !== undefined && !config.backupDirectory && !config.filesS3Url)
    faults.push('BACKUP_SCHEDULE: needs a place for the backups, BACKUP_DIRECTORY or FILES_S3_URL');
  return faults;
}

/** The settings that name roles, each with its variable and the names; `*` is the name of no role. */
export function roleSettings(
  config: Config,
): readonly { readonly variable: string; readonly roles: readonly string[] }[] {
  const values: Readonly<Record<string, unknown>> = config;
  return Object.entries<Setting>(SETTINGS).flatMap(([name, { schema }]) => {
    const named = values[name];
    if (schema !== rolesSetting || !Array.isArray(named)) return [];
    return [{ variable: variableOf(name), roles: named.filter((role) => role !== '*') }];
  });
}

/**
 * One line for each variable that is not a setting but looks like a misspelling of one. Other variables are
 * ignored: an environment holds many that belong to other programs.
 */
export function findMisspelt(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = Object.keys(SETTINGS).map(variableOf);
  const isSet = (name: string) => environment[name] !== undefined && environment[name] !== '';
  const unset = known.filter((name) => !isSet(name));
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name)) return [];
    // At most one change in five letters: PGPORT belongs to another program and is not a misspelt PORT.
    const meant = findNearest(name, unset, Math.max(1, Math.floor(name.length / 5)));
    return meant === undefined || !isNearInEachWord(name, meant)
      ? []
      : [`Unknown setting ${name}. Did you mean ${meant}?`];
  });
}

/** False for WEB_CONCURRENCY and JOB_CONCURRENCY: as near as a misspelling, but a different word. */
function isNearInEachWord(name: string, meant: string): boolean {
  const words = name.split('_');
  const wordsMeant = meant.split('_');
  if (words.length !== wordsMeant.length) return true;
  return words.every((word, index) => {
    const mostChanges = Math.max(1, Math.floor(word.length / 3));
    return findNearest(word, wordsMeant.slice(index, index + 1), mostChanges) !== undefined;
  });
}

/** The text of `.env.example`: every variable with its default and meaning. */
export function printEnvExample(): string {
  const lines = Object.entries<Setting>(SETTINGS).flatMap(([name, setting]) => [
    `# ${setting.meaning}`,
    setting.default === undefined ? `# ${variableOf(name)}=` : `${variableOf(name)}=${setting.default}`,
    '',
  ]);
  return ['# Copy to .env and change what you need; the values here are the defaults.', '', ...lines].join(
    '\n',
  );
}
