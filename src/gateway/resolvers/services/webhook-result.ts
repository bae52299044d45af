/** The types of webhooks in GraphQL. */
import { ArgsType, Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import { DateTime } from '../../../base/scalars/date-time.js';
import { GraphqlJsonScalar } from '../../../base/scalars/json-scalar.js';
import { type Edge, edgeType } from '../connection.js';
import { PageArguments } from '../page-arguments.js';
import { PageInfo } from '../records/generic-record.js';

@ObjectType('WebhookEvent', { description: 'Changes that a webhook is notified of.', simpleResolvers: true })
export class WebhookEventResult {
  @Field(() => String, { description: 'The collection of the records.' })
  readonly collection!: string;

  @Field(() => [String], { description: 'Of `created`, `updated`, `deleted`.' })
  readonly operations!: readonly string[];

  @Field(() => String, { nullable: true, description: 'Limits the records; null: all.' })
  readonly oquery!: string | undefined;
}

@InputType({ description: 'Changes that a webhook is to be told of.' })
export class WebhookEventInput {
  @Field(() => String, { description: 'The collection of the records, which you may read.' })
  readonly collection!: string;

  @Field(() => [String], { description: 'Of `created`, `updated`, `deleted`.' })
  readonly operations!: readonly string[];

  @Field(() => String, {
    nullable: true,
    description: 'The records alone that it is true of, e.g. "class=5"; a removed one is judged as it was.',
  })
  readonly oquery?: string | null;
}

@ObjectType('Webhook', {
  description: 'An external address that is notified of changes.',
  simpleResolvers: true,
})
export class WebhookResult {
  @Field(() => ID, { description: 'Identifies the webhook.' })
  readonly id!: string;

  @Field(() => String, { description: 'What its owner calls it.' })
  readonly name!: string;

  @Field(() => String, { description: 'The address.' })
  readonly url!: string;

  @Field(() => [WebhookEventResult], { description: 'The changes that it is notified of.' })
  readonly events!: readonly WebhookEventResult[];

  @Field(() => ID, { description: 'The user whose rights say what is sent.' })
  readonly userId!: string;

  @Field(() => Boolean, { description: 'Whether it is paused. Deliveries then wait, for a month at most.' })
  readonly isPaused!: boolean;

  @Field(() => Boolean, {
    description:
      'Its address failed three times or more, one after the other: it is tried once a minute, and all ' +
      'that waits is sent as soon as one delivery arrives. `testWebhook` tries it at once.',
  })
  readonly isFailing!: boolean;

  @Field(() => DateTime, { description: 'When it was made.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { description: 'When it was last changed.' })
  readonly updatedAt!: Date;

  @Field(() => String, {
    description:
      'Another one after each change of the above. Send it as `ifMatch` to change nothing that was changed ' +
      'meanwhile.',
  })
  readonly etag!: string;
}

@ObjectType('NewWebhook', { description: 'A webhook that was just made.', simpleResolvers: true })
export class NewWebhookResult {
  @Field(() => WebhookResult, { description: 'The webhook.' })
  readonly webhook!: WebhookResult;

  @Field(() => String, {
    description: 'What signs its deliveries (Standard Webhooks). It is shown here and never again.',
  })
  readonly secret!: string;
}

@InputType({ description: 'A new webhook.' })
export class CreateWebhookInput {
  @Field(() => String, { description: 'What you call it, 1 to 100 characters.' })
  readonly name!: string;

  @Field(() => String, { description: 'A public address by https or http.' })
  readonly url!: string;

  @Field(() => [WebhookEventInput], { description: 'What it is to be told of, 1 to 50.' })
  readonly events!: readonly WebhookEventInput[];
}

@InputType({ description: 'What changes of a webhook; what is left out stays.' })
export class UpdateWebhookInput {
  @Field(() => String, { nullable: true, description: 'What you call it.' })
  readonly name?: string | null;

  @Field(() => String, { nullable: true, description: 'A public address by https or http.' })
  readonly url?: string | null;

  @Field(() => [WebhookEventInput], { nullable: true, description: 'All that it is to be told of.' })
  readonly events?: readonly WebhookEventInput[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether deliveries are to wait.' })
  readonly isPaused?: boolean | null;
}

@ObjectType('WebhookDelivery', {
  description: 'A delivery of a webhook, and its state.',
  simpleResolvers: true,
})
export class WebhookDeliveryResult {
  @Field(() => ID, { description: 'Identifies the delivery. Sent as `webhook-id`.' })
  readonly id!: string;

  @Field(() => String, {
    description:
      '`waiting`, `delivered` (the answer was 2xx), `failed` (for a day), or `skipped`: the owner may not ' +
      'see it, or did not ask for it.',
  })
  readonly state!: string;

  @Field(() => GraphqlJsonScalar, {
    description: 'What happened: type, at, collection, recordId, version, by.',
  })
  readonly event!: unknown;

  @Field(() => String, { nullable: true, description: 'The body that was sent; null: nothing yet.' })
  readonly body!: string | undefined;

  @Field(() => Int, { description: 'The number of attempts.' })
  readonly attempts!: number;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the next attempt is made; null if it has ended.',
  })
  readonly nextAttemptAt!: Date | undefined;

  @Field(() => Int, { nullable: true, description: 'The status of the last answer; null: there was none.' })
  readonly status!: number | undefined;

  @Field(() => String, { nullable: true, description: 'The first 2,000 characters of the last answer.' })
  readonly answer!: string | undefined;

  @Field(() => String, { nullable: true, description: 'Why it was not delivered, or not yet.' })
  readonly problem!: string | undefined;

  @Field(() => Float, { nullable: true, description: 'How long the last attempt took. Unit: milliseconds.' })
  readonly durationMs!: number | undefined;

  @Field(() => DateTime, { description: 'When it was created.' })
  readonly createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When the last attempt was made.' })
  readonly attemptedAt!: Date | undefined;
}

const WebhookDeliveryEdge = edgeType('WebhookDelivery', () => WebhookDeliveryResult, 'A delivery');

@ObjectType({ description: 'A page of deliveries, the newest first.', simpleResolvers: true })
export class WebhookDeliveryConnection {
  @Field(() => [WebhookDeliveryResult], { description: 'The deliveries of the page.' })
  readonly nodes!: readonly WebhookDeliveryResult[];

  @Field(() => [WebhookDeliveryEdge], { description: 'The same with a cursor each.' })
  readonly edges!: readonly Edge<WebhookDeliveryResult>[];

  @Field(() => PageInfo, { description: 'The position of the page in the order.' })
  readonly pageInfo!: PageInfo;
}

@ArgsType()
export class WebhookDeliveriesArguments extends PageArguments {
  @Field(() => ID, { description: 'The webhook.' })
  readonly id!: string;

  @Field(() => String, { nullable: true, description: 'Only in this state.' })
  readonly state?: string | null;
}
