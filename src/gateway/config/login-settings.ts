/** The settings of credentials: tokens, second factors, log-in at a provider, API keys. */
import { z } from 'zod';
import {
  countSetting,
  flagSetting,
  httpAddressSetting,
  positiveSetting,
  rolesSetting,
  secretSetting,
  wholeNumberSetting,
} from '../../base/settings.js';

export const LOGIN_SETTINGS = {
  tokenSecret: {
    variable: 'TOKEN_SECRET',
    schema: secretSetting(32).optional(),
    meaning: 'signs access tokens, at least 32 characters; unset: made once and kept in the database',
  },
  accessTokenTtlSeconds: {
    variable: 'ACCESS_TOKEN_TTL_SECONDS',
    default: '3600',
    schema: positiveSetting,
    meaning: 'life of an access token',
  },
  refreshTokenTtlSeconds: {
    variable: 'REFRESH_TOKEN_TTL_SECONDS',
    default: '2592000',
    schema: positiveSetting,
    meaning: 'life of a refresh token',
  },
  sessionMaxDays: {
    variable: 'SESSION_MAX_DAYS',
    default: '90',
    schema: wholeNumberSetting(1, 3650),
    meaning: 'days after a log-in at which its session ends, however often it is refreshed',
  },
  passwordMinLength: {
    variable: 'PASSWORD_MIN_LENGTH',
    default: '8',
    schema: wholeNumberSetting(8, 64),
    meaning: 'characters that a new password has at least, 8 to 64; common passwords are refused anyway',
  },
  loginLimitPerMinute: {
    variable: 'LOGIN_LIMIT_PER_MINUTE',
    default: '10',
    schema: positiveSetting,
    meaning: 'failed logins a minute of one user and address',
  },
  loginLockoutFailures: {
    variable: 'LOGIN_LOCKOUT_FAILURES',
    default: '5',
    schema: countSetting,
    meaning:
      'failed logins of one user and address that are forgiven; each one more doubles the time for which ' +
      'both are refused, from 15 seconds to 16 minutes; 0: all are forgiven',
  },
  secondFactorRoles: {
    variable: 'SECOND_FACTOR_ROLES',
    default: '',
    schema: rolesSetting,
    meaning:
      'roles that need a second factor, e.g. admin, separated by commas: who logs in without one may do ' +
      'nothing but switch it on; empty: none, whoever wants one has it',
  },
  oidcIssuer: {
    variable: 'OIDC_ISSUER',
    schema: httpAddressSetting('https://accounts.example').optional(),
    meaning:
      'address of an OpenID Connect provider at which people may log in, by their verified email address; ' +
      'needs OIDC_CLIENT_ID and PUBLIC_URL',
  },
  oidcClientId: {
    variable: 'OIDC_CLIENT_ID',
    schema: z.string().optional(),
    meaning:
      'what the provider calls this gateway; its redirect URI is PUBLIC_URL/auth/browser/oidc/callback',
  },
  oidcClientSecret: {
    variable: 'OIDC_CLIENT_SECRET',
    schema: z.string().optional(),
    meaning: 'the secret of that client; unset: it has none',
  },
  oidcName: {
    variable: 'OIDC_NAME',
    default: 'OpenID Connect',
    schema: z.string().max(60),
    meaning: 'what the button of the log-in page calls the provider',
  },
  oidcLogout: {
    variable: 'OIDC_LOGOUT',
    default: 'true',
    schema: flagSetting,
    meaning:
      'log out at the provider as well, where it says how; its post-logout redirect URI is PUBLIC_URL/, ' +
      'with the slash',
  },
  apiKeysPerUser: {
    variable: 'API_KEYS_PER_USER',
    default: '50',
    schema: positiveSetting,
    meaning: 'valid API keys that a user has at most',
  },
  apiKeyRoles: {
    variable: 'API_KEY_ROLES',
    default: '*',
    schema: rolesSetting,
    meaning: 'roles that may have API keys, separated by commas; *: every user. Admins make keys for others',
  },
} as const;
