import { Alert, Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { ProblemState } from './states';

export interface ConfirmDialogProps {
  readonly title: string;
  /** The label of the confirming button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  /** Whether the button is enabled. Default: always. */
  readonly isReady?: boolean;
  readonly problem: Error | null;
  onConfirm(): void;
  onClose(): void;
  /** What will happen to how many things, and how it can be undone. */
  readonly children: ReactNode;
}

/** Asks before an action that is not undone by another press, and says what it will do. */
export function ConfirmDialog({
  title,
  action,
  isDangerous = false,
  isBusy,
  isReady = true,
  problem,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const t = useTexts();
  return (
    <InputDialog opened onClose={onClose} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {problem && <ProblemState problem={problem} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('Cancel')}
          </Button>
          <Button
            // White on the red of the theme has a contrast of only 3.8:1.
            color={isDangerous ? 'red.9' : 'campus'}
            loading={isBusy}
            disabled={!isReady}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </InputDialog>
  );
}

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
