/** The door to webhooks: for users who may have them, and for admins those of the domain. */
import { Arg, Args, Ctx, ID, Int, Mutation, Query, Resolver } from 'type-graphql';
import type { Webhook } from '../../../services/webhooks/webhook.js';
import type { WebhookDelivery, Webhooks } from '../../../services/webhooks/webhooks.js';
import { toConnection } from '../connection.js';
import { type PageSizes, toPageRequest } from '../page-arguments.js';
import { type RequestContext, requireScope } from '../request-context.js';
import {
  CreateWebhookInput,
  NewWebhookResult,
  UpdateWebhookInput,
  WebhookDeliveriesArguments,
  WebhookDeliveryConnection,
  WebhookDeliveryResult,
  type WebhookEventInput,
  WebhookResult,
} from './webhook-result.js';

@Resolver()
export class WebhookResolver {
  readonly #webhooks: Webhooks;
  readonly #pages: PageSizes;

  constructor(services: { readonly webhooks: Webhooks; readonly pages: PageSizes }) {
    this.#webhooks = services.webhooks;
    this.#pages = services.pages;
  }

  @Query(() => [WebhookResult], {
    description:
      'Your webhooks, the newest first; for an admin all of the domain. For the roles of WEBHOOK_ROLES.',
  })
  async webhooks(@Ctx() context: RequestContext): Promise<readonly Webhook[]> {
    return await this.#webhooks.list(requireScope(context));
  }

  @Query(() => WebhookDeliveryConnection, {
    description:
      'The deliveries of a webhook in the last week, sent and waiting, the newest first. ' +
      'Errors: NOT_FOUND.',
  })
  async webhookDeliveries(
    @Ctx() context: RequestContext,
    @Args(() => WebhookDeliveriesArguments) sent: WebhookDeliveriesArguments,
  ): Promise<WebhookDeliveryConnection> {
    const found = await this.#webhooks.deliveries(requireScope(context), sent.id, {
      state: sent.state ?? undefined,
      ...toPageRequest(sent, this.#pages),
    });
    return toConnection(found, { toNode: (delivery) => delivery, cursorOf: ({ id }) => id });
  }

  @Mutation(() => NewWebhookResult, {
    description:
      'Registers a webhook. What is sent is what you may read at the time. Errors: INVALID_VALUE, ' +
      'FORBIDDEN, LIMIT_EXCEEDED, MALFORMED_FILTER.',
  })
  async createWebhook(
    @Ctx() context: RequestContext,
    @Arg('data', () => CreateWebhookInput, { description: 'Its address and events.' })
    data: CreateWebhookInput,
  ): Promise<NewWebhookResult> {
    const { events, ...rest } = data;
    const made = await this.#webhooks.create(requireScope(context), {
      ...rest,
      events: events.map(toEvent),
    });
    return { webhook: toResult(made.webhook), secret: made.secret };
  }

  @Mutation(() => WebhookResult, {
    description:
      'Changes, pauses or resumes a webhook. Errors: NOT_FOUND, VERSION_CONFLICT, and as ' +
      '`createWebhook`.',
  })
  async updateWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The webhook.' }) id: string,
    @Arg('data', () => UpdateWebhookInput, { description: 'What changes.' }) data: UpdateWebhookInput,
    @Arg('ifMatch', () => String, {
      nullable: true,
      description: 'Change it only if the webhook still has this `etag`.',
    })
    ifMatch: string | null,
  ): Promise<Webhook> {
    return await this.#webhooks.update(requireScope(context), id, {
      ...(data.name != null && { name: data.name }),
      ...(data.url != null && { url: data.url }),
      ...(data.events != null && { events: data.events.map(toEvent) }),
      isPaused: data.isPaused ?? undefined,
      ifMatch: ifMatch ?? undefined,
    });
  }

  @Mutation(() => Boolean, {
    description: 'Removes a webhook and its deliveries. Errors: NOT_FOUND.',
  })
  async removeWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The webhook.' }) id: string,
  ): Promise<boolean> {
    await this.#webhooks.remove(requireScope(context), id);
    return true;
  }

  @Mutation(() => String, {
    description:
      'Replaces the secret. The new one is shown here and never again; the old one signs ' +
      'nothing more. Errors: NOT_FOUND.',
  })
  async rotateWebhookSecret(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The webhook.' }) id: string,
  ): Promise<string> {
    return await this.#webhooks.rotateSecret(requireScope(context), id);
  }

  @Mutation(() => WebhookDeliveryResult, {
    description: 'Sends an event of the type `test` now and waits for the answer. Errors: NOT_FOUND.',
  })
  async testWebhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The webhook.' }) id: string,
  ): Promise<WebhookDelivery> {
    return await this.#webhooks.test(requireScope(context), id);
  }

  @Mutation(() => WebhookDeliveryResult, {
    description: 'Sends a delivery again unchanged, or a waiting one at once. Errors: NOT_FOUND.',
  })
  async replayWebhookDelivery(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The delivery.' }) id: string,
  ): Promise<WebhookDelivery> {
    return await this.#webhooks.replay(requireScope(context), id);
  }

  @Mutation(() => Int, {
    description:
      'Sends all waiting and failed deliveries again, when the address answers again. ' +
      'Returns their number. Errors: NOT_FOUND.',
  })
  async replayWebhookDeliveries(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'The webhook.' }) id: string,
  ): Promise<number> {
    return await this.#webhooks.replayAll(requireScope(context), id);
  }
}

function toEvent({ oquery, ...event }: WebhookEventInput) {
  return { ...event, ...(oquery != null && { oquery }) };
}

function toResult(webhook: Webhook): WebhookResult {
  return {
    ...webhook,
    events: webhook.events.map((event) => ({ ...event, oquery: event.oquery })),
  };
}
