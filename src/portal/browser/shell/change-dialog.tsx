/** Dialogs that change something: one that asks before it does, and one with a form. */
import { type ButtonProps, Group, type ModalProps, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useChange } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { type PortalOperation } from '../session/graphql-headers';
import { ConfirmDialog, type ConfirmDialogProps, InputDialog } from './confirm-dialog';
import { ProblemState } from './states';
import { TextButton } from './text-button';

export interface ChangeDialogProps<Result, Variables>
  extends Pick<ConfirmDialogProps, 'title' | 'action' | 'isDangerous' | 'onClose' | 'children'> {
  readonly change: PortalOperation<Result, Variables>;
  readonly variables: Variables;
  /** The queries that are repeated afterwards. */
  readonly outdated?: readonly { readonly name: string }[];
  onDone?(result: Result): void;
}

/** Asks before a change, makes it, and closes. */
export function ChangeDialog<Result, Variables>(props: ChangeDialogProps<Result, Variables>) {
  const { change, variables, outdated, onDone, ...dialog } = props;
  const { mutateAsync, isPending, error } = useChange(change, outdated);
  const confirm = async () => {
    // What listed the changed thing may be gone with this dialog before the answer is here.
    const result = await mutateAsync(variables);
    dialog.onClose();
    onDone?.(result);
  };
  return (
    <ConfirmDialog
      {...dialog}
      isBusy={isPending}
      problem={error}
      onConfirm={() => void confirm().catch(() => undefined)}
    />
  );
}

export interface ChangeButtonProps<Result, Variables>
  extends Omit<ChangeDialogProps<Result, Variables>, 'onClose'> {
  /** Default: the action of the dialog. */
  readonly label?: ReactNode;
  readonly look?: ButtonProps & { readonly 'aria-label'?: string };
}

/** A button that opens a `ChangeDialog`. */
export function ChangeButton<Result, Variables>(props: ChangeButtonProps<Result, Variables>) {
  const { label, look, ...dialog } = props;
  const [isAsked, setIsAsked] = useState(false);
  return (
    <>
      <TextButton {...look} label={label ?? dialog.action} onClick={() => setIsAsked(true)} />
      {isAsked && <ChangeDialog {...dialog} onClose={() => setIsAsked(false)} />}
    </>
  );
}

export interface SubmitFormProps {
  /** The label of the button. */
  readonly action: string;
  readonly isBusy?: boolean;
  readonly isReady?: boolean;
  readonly problem?: Error | null;
  /** Called with the texts of the named inputs. */
  onSubmit(texts: Readonly<Record<string, string>>): void;
  /** Shows a button that closes the dialog of the form. */
  onCancel?(): void;
  /** Stands beside the buttons. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** The inputs of a form one below the other, what is wrong with them, and the button that sends them. */
export function SubmitForm(props: SubmitFormProps) {
  const { action, isBusy = false, isReady = true, problem, onSubmit, onCancel, note, children } = props;
  const t = useTexts();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(Object.fromEntries(new FormData(event.currentTarget)) as Readonly<Record<string, string>>);
      }}
    >
      <Stack>
        {children}
        {problem && <ProblemState problem={problem} />}
        <Group justify="flex-end">
          {note}
          {onCancel && <TextButton label={t('Cancel')} onClick={onCancel} />}
          <TextButton label={action} isMain type="submit" loading={isBusy} disabled={!isReady} />
        </Group>
      </Stack>
    </form>
  );
}

/** A dialog with a form. */
export function FormDialog({
  title,
  size = 'md',
  onClose,
  ...form
}: SubmitFormProps & Pick<ModalProps, 'title' | 'size' | 'onClose'>) {
  return (
    <InputDialog opened {...{ title, size, onClose }}>
      <SubmitForm {...form} />
    </InputDialog>
  );
}
