/** The settings of imports. Part of the list of `config.ts`. */
import { daysSetting, rolesSetting, setting, wholeNumberSetting } from '../../base/settings.js';

export const IMPORT_SETTINGS = {
  importRoles: setting(
    rolesSetting,
    'roles that may import files, separated by commas; what an import writes is held to the rights of ' +
      'its caller all the same',
    'admin',
  ),
  importMaxBytes: setting(
    wholeNumberSetting(1, 2_147_483_648),
    'largest file of an import; 2 GiB at most',
    '2147483648',
  ),
  keepImportsDays: setting(
    daysSetting,
    'days until an import that ended, or that nobody continued, is deleted with its file and errors',
    '30',
  ),
} as const;
