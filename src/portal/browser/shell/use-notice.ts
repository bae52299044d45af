import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';

/** Says in a corner, and to screen readers, that something was done, or that it failed. */
export function useNotice(): (message: ReactNode, outcome?: 'done' | 'failed') => void {
  const t = useTexts();
  return (message, outcome = 'done') =>
    notifications.show({
      message,
      color: outcome === 'done' ? 'green' : 'red',
      closeButtonProps: { 'aria-label': t('Close') },
    });
}
