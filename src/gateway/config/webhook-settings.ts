/** The settings of webhooks. */
import { positiveSetting, rolesSetting } from '../../base/settings.js';

export const WEBHOOK_SETTINGS = {
  webhookRoles: {
    variable: 'WEBHOOK_ROLES',
    default: 'admin',
    schema: rolesSetting,
    meaning:
      'roles that may have webhooks, beside admin, separated by commas; *: every user. They reach what ' +
      'platform.request may reach',
  },
  webhookTimeoutMs: {
    variable: 'WEBHOOK_TIMEOUT_MS',
    default: '10000',
    schema: positiveSetting,
    meaning: 'longest a webhook waits for the answer of its address, in milliseconds',
  },
} as const;
