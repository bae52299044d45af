/** The settings of files. Part of the list of `config.ts`. */
import { z } from 'zod';
import {
  bytesSetting,
  positiveSetting,
  rolesSetting,
  type SettingValues,
  setting,
  wholeNumberSetting,
} from '../../base/settings.js';

export const FILE_SETTINGS = {
  fileMaxBytes: setting(bytesSetting, 'largest file', '104857600'),
  filesQuotaBytes: setting(bytesSetting, 'bytes of all files of a school together', '10737418240'),
  fileUploadsOpen: setting(positiveSetting, 'tus uploads that one user may have open at the same time', '20'),
  fileUploadHours: setting(
    wholeNumberSetting(1, 876_000),
    'hours that an unfinished tus upload, or a file for an import, is kept after its last part',
    '24',
  ),
  fileRoles: setting(
    rolesSetting,
    'roles that may upload files of their own, separated by commas; a file of a record needs the ' +
      'right to change records of its collection',
    'admin,accountant,clerk,teacher',
  ),
  filesS3Url: setting(
    z
      .string()
      .regex(/^https?:\/\/[^/@\s]+\/[^/\s]+\/?$/, 'expected https://host/bucket')
      .optional(),
    'an S3 bucket for new files, e.g. https://s3.ap-south-1.amazonaws.com/school-files; ' +
      'unset: they are kept in the database. Older files stay where they are',
  ),
  filesS3Region: setting(z.string().min(1), 'region of the bucket', 'us-east-1'),
  filesS3AccessKeyId: setting(z.string(), 'access key of the bucket', ''),
  filesS3SecretAccessKey: setting(z.string(), 'secret of that access key', ''),
} as const;

export type FileSettings = SettingValues<typeof FILE_SETTINGS>;
