import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';

/** Returns a function that reports a success or a failure in a corner of the page, and to screen readers. */
export function useNotice(): (message: ReactNode, outcome?: 'done' | 'failed') => void {
  const t = useTexts();
  return (message, outcome = 'done') =>
    notifications.show({
      message,
      color: outcome === 'done' ? 'green' : 'red',
      closeButtonProps: { 'aria-label': t('Close') },
    });
}
