import type { MessagesOfPortalQuery } from '../../../generated/portal/messages/messages';

/** A message as the page lists it and its dialog shows it. */
export type ListedMessage = MessagesOfPortalQuery['messages']['nodes'][number];

/** What it is known by: a text message has no subject, and is known by its text. */
export function labelOfMessage({ subject, text }: ListedMessage): string {
  return subject ?? text ?? '';
}
