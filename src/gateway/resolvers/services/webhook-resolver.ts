/** The resolvers of webhooks: for users who may have them, and for admins those of the domain. */
import { inputType, member, nullable, objectType } from '../../../base/scalars/declared-type.js';
import type { Webhooks } from '../../../services/webhooks/webhooks.js';
import { connectionType, toConnection } from '../connection.js';
import { PAGE_ARGUMENTS, type PageSizes, toPageRequest } from '../page-arguments.js';
import { type FieldRows, given, serviceResolver } from '../service-resolver.js';

const WebhookEventResult = objectType('WebhookEvent', 'Changes that a webhook is notified of.', {
  collection: member.text('The collection of the records.'),
  operations: member.texts('One or more of `created`, `updated`, `deleted`.'),
  oquery: nullable.text('Limits the records; null: all.'),
});

const WebhookEventInput = inputType('WebhookEventInput', 'Changes that a webhook is sent.', {
  collection: member.text('The collection of the records, which you may read.'),
  operations: member.texts('One or more of `created`, `updated`, `deleted`.'),
  oquery: nullable.text('Only records that match it, e.g. "class=5"; a removed record is matched as it was.'),
});

const WebhookResult = objectType('Webhook', 'An external address that is notified of changes.', {
  id: member.id('Identifies the webhook.'),
  name: member.text('The name that its owner gave it.'),
  url: member.text('The address.'),
  events: member.list(WebhookEventResult, 'The changes that it is notified of.'),
  userId: member.id('The user whose rights limit what is sent.'),
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

const NewWebhookResult = objectType('NewWebhook', 'A webhook that was just made.', {
  webhook: member.of(WebhookResult, 'The webhook.'),
  secret: member.text('The secret that signs its deliveries (Standard Webhooks). It is shown only here.'),
});

const CreateWebhookInput = inputType('CreateWebhookInput', 'A new webhook.', {
  name: member.text('Its name, 1 to 100 characters.'),
  url: member.text('A public address by https or http.'),
  events: member.list(WebhookEventInput, 'The changes it is sent, 1 to 50.'),
});

const UpdateWebhookInput = inputType(
  'UpdateWebhookInput',
  'Changes of a webhook; members that are left out keep their values.',
  {
    name: nullable.text('Its name.'),
    url: nullable.text('A public address by https or http.'),
    events: nullable.list(WebhookEventInput, 'All changes that it is sent.'),
    isPaused: nullable.flag('Whether deliveries are to wait.'),
  },
);

const WebhookDeliveryResult = objectType('WebhookDelivery', 'A delivery of a webhook, and its state.', {
  id: member.id('Identifies the delivery. Sent as `webhook-id`.'),
  state: member.text(
    '`waiting`, `delivered` (the answer was 2xx), `failed` (for a day), or `skipped`: the owner may not ' +
      'see it, or did not subscribe to it.',
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
});

const WebhookDeliveryConnection = connectionType('WebhookDelivery', WebhookDeliveryResult, {
  page: 'A page of deliveries, the newest first.',
  one: 'A delivery',
  many: 'The deliveries',
});

export const WebhookResolver = serviceResolver(
  ({ query, mutation, done }: FieldRows<{ readonly webhooks: Webhooks; readonly pages: PageSizes }>) => ({
    webhooks: query(
      member.list(
        WebhookResult,
        'Your webhooks, the newest first; for an admin all of the domain. For the roles of WEBHOOK_ROLES.',
      ),
      {},
      ({ webhooks }, scope) => webhooks.list(scope),
    ),
    webhookDeliveries: query(
      member.of(
        WebhookDeliveryConnection,
        'The deliveries of a webhook in the last week, sent and waiting, the newest first. ' +
          'Errors: NOT_FOUND.',
      ),
      { ...PAGE_ARGUMENTS, id: member.id('The webhook.'), state: nullable.text('Only in this state.') },
      async ({ webhooks, pages }, scope, sent) => {
        const page = { state: sent.state, ...toPageRequest(sent, pages) };
        const found = await webhooks.deliveries(scope, sent.id, page);
        return toConnection(found, { toNode: (delivery) => delivery, cursorOf: ({ id }) => id });
      },
    ),
    createWebhook: mutation(
      member.of(
        NewWebhookResult,
        'Registers a webhook. What is sent is what you may read at the time. Errors: INVALID_VALUE, ' +
          'FORBIDDEN, LIMIT_EXCEEDED, MALFORMED_FILTER.',
      ),
      { data: member.of(CreateWebhookInput, 'Its address and events.') },
      async ({ webhooks }, scope, { data }) => {
        return await webhooks.create(scope, { ...data, events: data.events.map(given) });
      },
    ),
    updateWebhook: mutation(
      member.of(
        WebhookResult,
        'Changes, pauses or resumes a webhook. Errors: NOT_FOUND, VERSION_CONFLICT, and as ' +
          '`createWebhook`.',
      ),
      {
        id: member.id('The webhook.'),
        data: member.of(UpdateWebhookInput, 'The fields to change.'),
        ifMatch: nullable.text('Change it only if the webhook still has this `etag`.'),
      },
      ({ webhooks }, scope, { id, data, ifMatch }) =>
        webhooks.update(scope, id, {
          ...given(data),
          ...(data.events != null && { events: data.events.map(given) }),
          ifMatch,
        }),
    ),
    removeWebhook: done(
      'Removes a webhook and its deliveries. Errors: NOT_FOUND.',
      { id: member.id('The webhook.') },
      ({ webhooks }, scope, { id }) => webhooks.remove(scope, id),
    ),
    rotateWebhookSecret: mutation(
      member.text(
        'Replaces the secret. The new one is shown here and never again; the old one signs ' +
          'nothing more. Errors: NOT_FOUND.',
      ),
      { id: member.id('The webhook.') },
      ({ webhooks }, scope, { id }) => webhooks.rotateSecret(scope, id),
    ),
    testWebhook: mutation(
      member.of(
        WebhookDeliveryResult,
        'Sends an event of the type `test` now and waits for the answer. Errors: NOT_FOUND.',
      ),
      { id: member.id('The webhook.') },
      ({ webhooks }, scope, { id }) => webhooks.test(scope, id),
    ),
    replayWebhookDelivery: mutation(
      member.of(
        WebhookDeliveryResult,
        'Sends a delivery again unchanged, or a waiting one at once. Errors: NOT_FOUND.',
      ),
      { id: member.id('The delivery.') },
      ({ webhooks }, scope, { id }) => webhooks.replay(scope, id),
    ),
    replayWebhookDeliveries: mutation(
      member.whole(
        'Sends all waiting and failed deliveries again, when the address answers again. ' +
          'Returns their number. Errors: NOT_FOUND.',
      ),
      { id: member.id('The webhook.') },
      ({ webhooks }, scope, { id }) => webhooks.replayAll(scope, id),
    ),
  }),
);
