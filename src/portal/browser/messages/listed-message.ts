import type { MessagesOfPortalQuery } from '../../../generated/portal/messages/messages';

/** A message, as the page lists it and its dialog shows it. */
export type ListedMessage = MessagesOfPortalQuery['messages']['nodes'][number];

/** The label of a message. A text message has no subject, so its text is the label. */
export function labelOfMessage({ subject, text }: ListedMessage): string {
  return subject ?? text ?? '';
}
