/** The settings of the database, and of the work one call may give it. */
import { z } from 'zod';
import {
  countSetting,
  daysSetting,
  flagSetting,
  listSetting,
  positiveSetting,
  wholeNumberSetting,
} from '../../base/settings.js';
import {
  hasPossibleDatabaseName,
  listHostUrls,
  withPlainDatabaseName,
} from '../../store/database/list-host-urls.js';
import { hasKnownTlsMode, TLS_MODES, withExplicitTlsMode } from '../../store/database/tls-mode.js';

const IMPOSSIBLE_NAME =
  'the name of a database with ? or # (%3F, %23) cannot be part of an address; rename the database';
const UNKNOWN_TLS_MODE = `sslmode is to be one of ${TLS_MODES.join(', ')}`;

export const DATABASE_SETTINGS = {
  databaseUrl: {
    variable: 'DATABASE_URL',
    schema: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'expected postgresql://user:password@host:port/database')
      .refine((url) => !/[?&]target_session_attrs=(?!any|read-write|primary|prefer-primary)/.test(url), {
        error: 'target_session_attrs is to be read-write',
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
    meaning:
      'a PostgreSQL >= 15 of your own; of several servers, host1:5432,host2:5432, the one that is primary; ' +
      'unset: an embedded one in DATA_DIRECTORY',
  },
  databaseReplicaUrls: {
    variable: 'DATABASE_REPLICA_URLS',
    default: '',
    schema: listSetting
      .refine((urls) => urls.every((url) => /^postgres(ql)?:\/\//.test(url)), {
        error: 'expected postgresql://user:password@host:port/database, separated by commas',
      })
      .refine((urls) => urls.every(hasKnownTlsMode), { error: UNKNOWN_TLS_MODE })
      .refine((urls) => urls.every(hasPossibleDatabaseName), { error: IMPOSSIBLE_NAME })
      .transform((urls) => urls.map((url) => withPlainDatabaseName(withExplicitTlsMode(url)))),
    meaning:
      'streaming replicas that lists, streams, aggregates and reports are read from, separated by commas; ' +
      'the same for all gateways',
  },
  replicaMaxLagMs: {
    variable: 'REPLICA_MAX_LAG_MS',
    default: '5000',
    schema: wholeNumberSetting(2_000, 2_147_483_647),
    meaning: 'a replica further behind than this is not read from, in milliseconds',
  },
  dataDirectory: {
    variable: 'DATA_DIRECTORY',
    default: '.data',
    schema: z.string().min(1),
    meaning: 'where the embedded database keeps its files',
  },
  poolSize: {
    variable: 'POOL_SIZE',
    default: '16',
    schema: wholeNumberSetting(1, 1000),
    meaning: 'connections to the database',
  },
  statementTimeoutMs: {
    variable: 'STATEMENT_TIMEOUT_MS',
    default: '30000',
    schema: countSetting,
    meaning: 'longest a statement may run, in milliseconds; 0: no limit. Streams are not bound by it',
  },
  demo: {
    variable: 'DEMO',
    schema: flagSetting.optional(),
    meaning:
      'make the demo school, whose passwords everybody knows, on the first start of the embedded database, ' +
      'and show its logins; left out: only where HOST is a loopback address and PUBLIC_URL is not set',
  },
  keepRemovedDays: {
    variable: 'KEEP_REMOVED_DAYS',
    default: '90',
    schema: daysSetting,
    meaning: 'how long a removed record answers 410 before it is purged and its _id is free again',
  },
  maxRecordsPerWrite: {
    variable: 'MAX_RECORDS_PER_WRITE',
    default: '10000',
    schema: positiveSetting,
    meaning: 'records one call may create, change or remove',
  },
  maxResultRecords: {
    variable: 'MAX_RESULT_RECORDS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'platform.db: records or values a function gives at once; what is streamed has no such bound',
  },
} as const;
