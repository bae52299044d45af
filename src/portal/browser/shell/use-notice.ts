import { notifications } from '@mantine/notifications';
import { useTexts } from '../language/use-texts';

/** Says in a corner, and to screen readers, that something was done. */
export function useNotice(): (message: string) => void {
  const t = useTexts();
  return (message) =>
    notifications.show({ message, color: 'green', closeButtonProps: { 'aria-label': t('Close') } });
}
