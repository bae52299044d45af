/** The settings of imports. Part of the list of `config.ts`. */
import { daysSetting, rolesSetting, wholeNumberSetting } from '../../base/settings.js';

export const IMPORT_SETTINGS = {
  importRoles: {
    variable: 'IMPORT_ROLES',
    default: 'admin',
    schema: rolesSetting,
    meaning:
      'roles that may import files, separated by commas; what an import writes is held to the rights of ' +
      'its caller all the same',
  },
  importMaxBytes: {
    variable: 'IMPORT_MAX_BYTES',
    default: '2147483648',
    schema: wholeNumberSetting(1, 2_147_483_648),
    meaning: 'largest file of an import; 2 GiB at most',
  },
  keepImportsDays: {
    variable: 'KEEP_IMPORTS_DAYS',
    default: '30',
    schema: daysSetting,
    meaning: 'days until an import that has ended, or waits for nobody, goes with its file and its errors',
  },
} as const;
