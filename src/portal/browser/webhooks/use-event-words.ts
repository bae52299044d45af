import type { WebhooksOfPortalQuery } from '../../../generated/portal/webhooks/webhooks';
import { useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { OPERATION_LABELS } from './webhook-form';

type WebhookEvent = WebhooksOfPortalQuery['webhooks'][number]['events'][number];

/** The events of a webhook as text: `Tasks: Created, Changed (status=done)`. */
export function useEventWords(): (event: WebhookEvent) => string {
  const t = useTexts();
  const { collections } = useViewer();
  return ({ collection, operations, oquery }) => {
    const title = collections.find(({ name }) => name === collection)?.title ?? collection;
    const words = operations.map((operation) => t(OPERATION_LABELS[operation] ?? operation)).join(', ');
    return `${title}: ${words}${oquery === null ? '' : ` (${oquery})`}`;
  };
}
