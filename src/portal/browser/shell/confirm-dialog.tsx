import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';
import { InputDialog } from './input-dialog';
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
