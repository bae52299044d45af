import { Alert, Button, Group, Modal, type ModalProps } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTexts } from '../language/use-texts';

/**
 * A dialog with a form. Escape, a press beside the dialog, and its cross ask before they discard typed input;
 * a button within it closes the dialog at once.
 */
export function InputDialog({ children, onClose, ...props }: ModalProps) {
  const t = useTexts();
  const typedInto = useRef(new Set<Node>());
  const [isAsked, setIsAsked] = useState(false);
  const closeOrAsk = () => {
    // A form that was sent may have been replaced by its result.
    const isTyped = [...typedInto.current].some(({ isConnected }) => isConnected);
    if (isTyped && !isAsked) setIsAsked(true);
    else if (isTyped) setIsAsked(false);
    else onClose();
  };
  return (
    <Modal onClose={closeOrAsk} closeButtonProps={{ 'aria-label': t('Close') }} {...props}>
      {isAsked && (
        <Alert color="yellow" variant="light" mb="md" role="alert" title={t('You have unsaved changes')}>
          <Group gap="xs">
            <Button size="compact-sm" variant="default" autoFocus onClick={() => setIsAsked(false)}>
              {t('Keep editing')}
            </Button>
            <Button size="compact-sm" variant="default" onClick={onClose}>
              {t('Discard changes')}
            </Button>
          </Group>
        </Alert>
      )}
      <div onInput={({ target }) => typedInto.current.add(target as Node)}>{children}</div>
    </Modal>
  );
}
