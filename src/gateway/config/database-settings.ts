/** The settings of the database, and of the work one call may give it. */
import { z } from 'zod';
import {
  countSetting,
  daysSetting,
  flagSetting,
  listSetting,
  positiveSetting,
  setting,
  wholeNumberSetting,
} from '../../base/settings.js';
import {
  hasKnownTlsMode,
  hasPossibleDatabaseName,
  listHostUrls,
  TLS_MODES,
  withExplicitTlsMode,
  withPlainDatabaseName,
} from '../../store/database/list-host-urls.js';

const IMPOSSIBLE_NAME =
  'the name of a database with ? or # (%3F, %23) cannot be part of an address; rename the database';
const UNKNOWN_TLS_MODE = `sslmode must be one of ${TLS_MODES.join(', ')}`;

export const DATABASE_SETTINGS = {
  databaseUrl: setting(
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'expected postgresql://user:password@host:port/database')
      .refine((url) => !/[?&]target_session_attrs=(?!any|read-write|primary|prefer-primary)/.test(url), {
        error: 'target_session_attrs must be read-write',
      })
      .refine((url) => listHostUrls(url).every((one) => URL.canParse(one)), {
        error:
          'a host or port that is none; in a user and password, % # / ? @ : are written as ' +
          '%25 %23 %2F %3F %40 %3A',
      })
      .refine(hasKnownTlsMode, { error: UNKNOWN_TLS_MODE })
      .refine(hasPossibleDatabaseName, { error: IMPOSSIBLE_NAME })
      .transform((url) => withPlainDatabaseName(withExplicitTlsMode(url)))
      .optional(),
    'a PostgreSQL >= 15 of your own; of several servers, host1:5432,host2:5432, the one that is primary; ' +
      'unset: an embedded one in DATA_DIRECTORY',
  ),
  databaseReplicaUrls: setting(
    listSetting
      .refine((urls) => urls.every((url) => /^postgres(ql)?:\/\//.test(url)), {
        error: 'expected postgresql://user:password@host:port/database, separated by commas',
      })
      .refine((urls) => urls.every(hasKnownTlsMode), { error: UNKNOWN_TLS_MODE })
      .refine((urls) => urls.every(hasPossibleDatabaseName), { error: IMPOSSIBLE_NAME })
      .transform((urls) => urls.map((url) => withPlainDatabaseName(withExplicitTlsMode(url)))),
    'streaming replicas that lists, streams, aggregates and reports are read from, separated by commas; ' +
      'the same for all gateways',
    '',
  ),
  replicaMaxLagMs: setting(
    wholeNumberSetting(2_000, 2_147_483_647),
    'a replica further behind than this is not read from, in milliseconds',
    '5000',
  ),
  dataDirectory: setting(z.string().min(1), 'where the embedded database keeps its files', '.data'),
  poolSize: setting(wholeNumberSetting(1, 1000), 'connections to the database', '16'),
  statementTimeoutMs: setting(
    countSetting,
    'longest a statement may run, in milliseconds; 0: no limit. Streams are not bound by it',
    '30000',
  ),
  demo: setting(
    flagSetting.optional(),
    'make the demo school, whose passwords everybody knows, on the first start of the embedded database, ' +
      'and show its logins; left out: only where HOST is a loopback address and PUBLIC_URL is not set',
  ),
  keepRemovedDays: setting(
    daysSetting,
    'how long a removed record answers 410 before it is purged and its _id is free again',
    '90',
  ),
  maxRecordsPerWrite: setting(positiveSetting, 'records one call may create, change or remove', '10000'),
  maxResultRecords: setting(
    positiveSetting,
    'platform.db: records or values a function gives at once; what is streamed has no such bound',
    '10000',
  ),
} as const;
