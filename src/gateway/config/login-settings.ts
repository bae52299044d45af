/** The settings of credentials: tokens, second factors, log-in at a provider, API keys. */
import { z } from 'zod';
import {
  countSetting,
  flagSetting,
  httpAddressSetting,
  positiveSetting,
  rolesSetting,
  secretSetting,
  setting,
  wholeNumberSetting,
} from '../../base/settings.js';

export const LOGIN_SETTINGS = {
  tokenSecret: setting(
    secretSetting(32).optional(),
    'signs access tokens, at least 32 characters; unset: made once and kept in the database',
  ),
  accessTokenTtlSeconds: setting(positiveSetting, 'life of an access token', '3600'),
  refreshTokenTtlSeconds: setting(positiveSetting, 'life of a refresh token', '2592000'),
  sessionMaxDays: setting(
    wholeNumberSetting(1, 3650),
    'days after a log-in at which its session ends, however often it is refreshed',
    '90',
  ),
  passwordMinLength: setting(
    wholeNumberSetting(8, 64),
    'characters that a new password has at least, 8 to 64; common passwords are refused anyway',
    '8',
  ),
  loginLimitPerMinute: setting(positiveSetting, 'failed logins a minute of one user and address', '10'),
  loginLockoutFailures: setting(
    countSetting,
    'failed logins of one user and address without a lock-out; each further one doubles the time for ' +
      'which both are refused, from 15 seconds to 16 minutes; 0: never locked out',
    '5',
  ),
  secondFactorRoles: setting(
    rolesSetting,
    'roles that need a second factor, e.g. admin, separated by commas: users without one may do ' +
      'nothing but set it up; empty: none, it is optional',
    '',
  ),
  oidcIssuer: setting(
    httpAddressSetting('https://accounts.example').optional(),
    'address of an OpenID Connect provider at which people may log in, by their verified email address; ' +
      'needs OIDC_CLIENT_ID and PUBLIC_URL',
  ),
  oidcClientId: setting(
    z.string().optional(),
    'client id of this gateway at the provider; its redirect URI is PUBLIC_URL/auth/browser/oidc/callback',
  ),
  oidcClientSecret: setting(z.string().optional(), 'the secret of that client; unset: it has none'),
  oidcName: setting(
    z.string().max(60),
    'the name of the provider on the button of the log-in page',
    'OpenID Connect',
  ),
  oidcLogout: setting(
    flagSetting,
    'log out at the provider as well, if it supports it; its post-logout redirect URI is PUBLIC_URL/, ' +
      'with the slash',
    'true',
  ),
  apiKeysPerUser: setting(positiveSetting, 'valid API keys that a user has at most', '50'),
  apiKeyRoles: setting(
    rolesSetting,
    'roles that may have API keys, separated by commas; *: every user. Admins make keys for others',
    '*',
  ),
} as const;
