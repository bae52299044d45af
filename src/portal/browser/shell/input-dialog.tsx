import { Alert, Button, Group, Modal, type ModalProps } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTexts } from '../language/use-texts';

/**
 * A dialog in which something is filled in. What closes it by a slip (Escape, a press beside it, its cross)
 * asks first where something was typed that is still there; a button within it closes it at once.
 */
export function InputDialog({ children, onClose, ...props }: ModalProps) {
  const t = useTexts();
  const typedInto = useRef(new Set<Node>());
  const [isAsked, setIsAsked] = useState(false);
  const closeOrAsk = () => {
    // A form that was sent may have made way for what came of it.
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
