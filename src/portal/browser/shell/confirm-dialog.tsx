import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';
import { InputDialog } from './input-dialog';
import { ProblemState } from './states';

export interface ConfirmDialogProps {
  readonly title: string;
  /** What the button says that does it. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  /** Whether it can be done yet; where it depends on what is filled in. */
  readonly isReady?: boolean;
  readonly problem: Error | null;
  onConfirm(): void;
  onClose(): void;
  /** What will happen, to how much, and how it is taken back. */
  readonly children: ReactNode;
}

/** Before what cannot be undone by pressing something else: it says what will be done. */
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
            // White on the red of the theme has 3.8:1 alone.
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
