/** The types of webhooks in GraphQL. */

import {
  argumentsType,
  inputType,
  member,
  nullable,
  objectType,
  type ValueOf,
} from '../../../base/scalars/declared-type.js';
import { connectionType } from '../connection.js';
import { PAGE_ARGUMENTS } from '../page-arguments.js';

const WebhookEventResult = objectType('WebhookEvent', 'Changes that a webhook is notified of.', {
  collection: member.text('The collection of the records.'),
  operations: member.texts('Of `created`, `updated`, `deleted`.'),
  oquery: nullable.text('Limits the records; null: all.'),
});

export const WebhookEventInput = inputType('WebhookEventInput', 'Changes that a webhook is to be told of.', {
  collection: member.text('The collection of the records, which you may read.'),
  operations: member.texts('Of `created`, `updated`, `deleted`.'),
  oquery: nullable.text(
    'The records alone that it is true of, e.g. "class=5"; a removed one is judged as it was.',
  ),
});
export type WebhookEventInput = ValueOf<typeof WebhookEventInput>;

export const WebhookResult = objectType('Webhook', 'An external address that is notified of changes.', {
  id: member.id('Identifies the webhook.'),
  name: member.text('What its owner calls it.'),
  url: member.text('The address.'),
  events: member.list(WebhookEventResult, 'The changes that it is notified of.'),
  userId: member.id('The user whose rights say what is sent.'),
  isPaused: member.flag('Whether it is paused. Deliveries then wait, for a month at most.'),
  isFailing: member.flag(
    'Its address failed three times or more, one after the other: it is tried once a minute, and all ' +
      'that waits is sent as soon as one delivery arrives. `testWebhook` tries it at once.',
  ),
  createdAt: member.instant('When it was made.'),
  updatedAt: member.instant('When it was last changed.'),
  etag: member.text(
    'Another one after each change of the above. Send it as `ifMatch` to change nothing that was changed ' +
      'meanwhile.',
  ),
});
export type WebhookResult = ValueOf<typeof WebhookResult>;

export const NewWebhookResult = objectType('NewWebhook', 'A webhook that was just made.', {
  webhook: member.of(WebhookResult, 'The webhook.'),
  secret: member.text('What signs its deliveries (Standard Webhooks). It is shown here and never again.'),
});
export type NewWebhookResult = ValueOf<typeof NewWebhookResult>;

export const CreateWebhookInput = inputType('CreateWebhookInput', 'A new webhook.', {
  name: member.text('What you call it, 1 to 100 characters.'),
  url: member.text('A public address by https or http.'),
  events: member.list(WebhookEventInput, 'What it is to be told of, 1 to 50.'),
});
export type CreateWebhookInput = ValueOf<typeof CreateWebhookInput>;

export const UpdateWebhookInput = inputType(
  'UpdateWebhookInput',
  'What changes of a webhook; what is left out stays.',
  {
    name: nullable.text('What you call it.'),
    url: nullable.text('A public address by https or http.'),
    events: nullable.list(WebhookEventInput, 'All that it is to be told of.'),
    isPaused: nullable.flag('Whether deliveries are to wait.'),
  },
);
export type UpdateWebhookInput = ValueOf<typeof UpdateWebhookInput>;

export const WebhookDeliveryResult = objectType(
  'WebhookDelivery',
  'A delivery of a webhook, and its state.',
  {
    id: member.id('Identifies the delivery. Sent as `webhook-id`.'),
    state: member.text(
      '`waiting`, `delivered` (the answer was 2xx), `failed` (for a day), or `skipped`: the owner may not ' +
        'see it, or did not ask for it.',
    ),
    event: member.anyJson('What happened: type, at, collection, recordId, version, by.'),
    body: nullable.text('The body that was sent; null: nothing yet.'),
    attempts: member.whole('The number of attempts.'),
    nextAttemptAt: nullable.instant('When the next attempt is made; null if it has ended.'),
    status: nullable.whole('The status of the last answer; null: there was none.'),
    answer: nullable.text('The first 2,000 characters of the last answer.'),
    problem: nullable.text('Why it was not delivered, or not yet.'),
    durationMs: nullable.number('How long the last attempt took. Unit: milliseconds.'),
    createdAt: member.instant('When it was created.'),
    attemptedAt: nullable.instant('When the last attempt was made.'),
  },
);
export type WebhookDeliveryResult = ValueOf<typeof WebhookDeliveryResult>;

export const WebhookDeliveryConnection = connectionType('WebhookDelivery', WebhookDeliveryResult, {
  page: 'A page of deliveries, the newest first.',
  one: 'A delivery',
  many: 'The deliveries',
});
export type WebhookDeliveryConnection = ValueOf<typeof WebhookDeliveryConnection>;

export const WebhookDeliveriesArguments = argumentsType({
  ...PAGE_ARGUMENTS,
  id: member.id('The webhook.'),
  state: nullable.text('Only in this state.'),
});
export type WebhookDeliveriesArguments = ValueOf<typeof WebhookDeliveriesArguments>;
