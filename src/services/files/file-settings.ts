/** The settings of files. Part of the list of `config.ts`. */
import { z } from 'zod';
import { bytesSetting, positiveSetting, rolesSetting, wholeNumberSetting } from '../../base/settings.js';

export const FILE_SETTINGS = {
  fileMaxBytes: {
    variable: 'FILE_MAX_BYTES',
    default: '104857600',
    schema: bytesSetting,
    meaning: 'largest file',
  },
  filesQuotaBytes: {
    variable: 'FILES_QUOTA_BYTES',
    default: '10737418240',
    schema: bytesSetting,
    meaning: 'bytes of all files of a school together',
  },
  fileUploadsOpen: {
    variable: 'FILE_UPLOADS_OPEN',
    default: '20',
    schema: positiveSetting,
    meaning: 'uploads of one user that are sent piece by piece at the same time (tus)',
  },
  fileUploadHours: {
    variable: 'FILE_UPLOAD_HOURS',
    default: '24',
    schema: wholeNumberSetting(1, 876_000),
    meaning: 'hours after the last piece of such an upload, or without an import, in which it is kept',
  },
  fileRoles: {
    variable: 'FILE_ROLES',
    default: 'admin,accountant,clerk,teacher',
    schema: rolesSetting,
    meaning:
      'roles that may upload files of their own, separated by commas; a file of a record needs the ' +
      'right to change records of its collection',
  },
  filesS3Url: {
    variable: 'FILES_S3_URL',
    schema: z
      .string()
      .regex(/^https?:\/\/[^/@\s]+\/[^/\s]+\/?$/, 'expected https://host/bucket')
      .optional(),
    meaning:
      'a bucket that speaks S3 for new files, e.g. https://s3.ap-south-1.amazonaws.com/school-files; ' +
      'unset: they are kept in the database. Older files stay where they are',
  },
  filesS3Region: {
    variable: 'FILES_S3_REGION',
    default: 'us-east-1',
    schema: z.string().min(1),
    meaning: 'region of the bucket',
  },
  filesS3AccessKeyId: {
    variable: 'FILES_S3_ACCESS_KEY_ID',
    default: '',
    schema: z.string(),
    meaning: 'access key of the bucket',
  },
  filesS3SecretAccessKey: {
    variable: 'FILES_S3_SECRET_ACCESS_KEY',
    default: '',
    schema: z.string(),
    meaning: 'secret of that access key',
  },
} as const;
