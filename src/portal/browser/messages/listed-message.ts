import type { MessagesOfPortalQuery } from '../../../generated/portal/messages/messages';

/** A message as the page lists it and its dialog shows it. */
export type ListedMessage = MessagesOfPortalQuery['messages']['nodes'][number];
