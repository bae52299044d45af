/** The settings of backups, which are part of the list in `config.ts`. */
import { z } from 'zod';
import { positiveSetting, type SettingValues, secretSetting, setting } from '../../base/settings.js';

export const BACKUP_SETTINGS = {
  backupSchedule: setting(
    z
      .string()
      .regex(/^[\d*,/-]+( [\d*,/-]+){4}$/, 'expected minute, hour, day, month and weekday: 30 20 * * *')
      .optional(),
    'when backups are made, in UTC: minute, hour, day, month, weekday; 30 20 * * * is two at night in ' +
      'India. One gateway of several makes each. Unset: none are scheduled',
  ),
  backupKeep: setting(
    positiveSetting,
    'how many scheduled backups are kept; older ones are removed after the next one',
    '14',
  ),
  backupDirectory: setting(
    z.string().min(1).optional(),
    'the folder of the backups that the gateway makes, on a disk that all gateways have; unset: below ' +
      'backups/ in the bucket of FILES_S3_URL, or else in DATA_DIRECTORY if the database is embedded',
  ),
  backupPassphrase: setting(
    secretSetting(12).optional(),
    'backups are encrypted by it, at least 12 characters; without it, and without BACKUP_KEY_FILE, they ' +
      'are not. A backup cannot be read without its passphrase',
  ),
  backupKeyFile: setting(
    z.string().min(1).optional(),
    'a file whose bytes, at least 32, encrypt backups in place of a passphrase',
  ),
} as const;

export type BackupSettings = Partial<SettingValues<typeof BACKUP_SETTINGS>> &
  Pick<SettingValues<typeof BACKUP_SETTINGS>, 'backupKeep'>;
