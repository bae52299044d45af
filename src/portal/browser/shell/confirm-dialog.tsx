import {
  Alert,
  type ButtonProps,
  Group,
  Modal,
  type ModalProps,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { HistoryOfRecord, RecordNow, UndoRequest } from '../../../generated/portal/records/record';
import { LastAuditedChange, LastChangeOfRecord } from '../../../generated/portal/shell/last-change';
import { saveFile, useChange, useOperation } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { formats, t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import type { PortalOperation } from '../session/graphql-headers';
import { CodeToCopy } from './code-to-copy';
import { WarningNotice } from './icon';
import { type FactStripProps, FactsTable } from './link-card';
import { ProblemState } from './states';
import { TextButton, type TextButtonProps } from './text-button';
import { useUserNames } from './use-record-labels';

/** Reports a success or a failure in a corner of the page, and to screen readers. */
export function notice(message: ReactNode, outcome: 'done' | 'failed' = 'done'): void {
  notifications.show({
    message,
    color: outcome === 'done' ? 'green' : 'red',
  });
}

/** The state of a requested change: whether it is pending, and its error. */
type SentChange = Pick<UseMutationResult, 'isPending' | 'error'>;

const NOT_SENT: SentChange = { isPending: false, error: null };

interface ConfirmDialogProps
  extends Pick<SubmitFormProps, 'action' | 'isDangerous' | 'of' | 'isReady' | 'meanwhile'> {
  readonly title: string;
  onConfirm(): void;
  onClose(): void;
  /** The effect, the number of affected things, and the way to undo it. */
  readonly children: ReactNode;
}

/** Asks for confirmation of an action that another press cannot undo, and explains it. */
export function ConfirmDialog({ onConfirm, children, ...dialog }: ConfirmDialogProps) {
  return (
    <FormDialog {...dialog} onCancel={dialog.onClose} onSubmit={onConfirm}>
      <Text component="div">{children}</Text>
    </FormDialog>
  );
}

/**
 * A dialog with a form. Escape, a press beside the dialog, and its cross ask before they discard typed input;
 * a button within it closes the dialog at once.
 */
export function InputDialog({ children, onClose, ...props }: ModalProps) {
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
    <Modal onClose={closeOrAsk} {...props}>
      {isAsked && (
        <Alert color="yellow" variant="light" mb="md" role="alert" title={t('You have unsaved changes')}>
          <Group gap="xs">
            <TextButton
              label={t('Keep editing')}
              size="compact-sm"
              autoFocus
              onClick={() => setIsAsked(false)}
            />
            <TextButton label={t('Discard changes')} size="compact-sm" onClick={onClose} />
          </Group>
        </Alert>
      )}
      <div onInput={({ target }) => typedInto.current.add(target as Node)}>{children}</div>
    </Modal>
  );
}

interface ChangedMeanwhileProps {
  readonly changed: ChangedObject;
  /** The version saved by the other person. */
  readonly theirs: FactStripProps['facts'];
}

/**
 * Names who saved the current version, and shows it, in a form whose save was refused because somebody else
 * saved first.
 */
function ChangedMeanwhile({ changed, theirs }: ChangedMeanwhileProps) {
  return (
    <div role="alert">
      <WarningNotice title={t('Someone else has changed this')}>
        <Stack gap="xs">
          <LastChangedBy changed={changed} />
          <FactsTable facts={theirs} />
          <Text>
            {t('This is the current version. Save again to replace it with yours, or close to keep it.')}
          </Text>
        </Stack>
      </WarningNotice>
    </div>
  );
}

/**
 * Returns the version that a form replaces: the one it was opened with; after a refusal, the one somebody
 * else has saved, which is then shown.
 */
export function savedOver<Begun, Now extends Begun>(
  begun: Begun,
  now: Now | undefined,
  problem: Error | null,
): { readonly over: Begun; readonly theirs: Now | undefined } {
  const theirs = codeOf(problem) === 'VERSION_CONFLICT' ? now : undefined;
  return { over: theirs ?? begun, theirs };
}

interface ChangedByProps {
  /** The last one first. */
  readonly changes: readonly OtherChange[];
}

/** Names who made the changes, and when the last of them was made. */
export function ChangedBy({ changes }: ChangedByProps) {
  const authors = [...new Set(changes.map(({ by }) => by))];
  const userName = useUserNames(authors);
  const [last] = changes;
  if (!last) return null;
  return (
    <Text fw={600}>
      {t('Changed by {names} · {time}', {
        names: authors.map(userName).join(', '),
        time: formats.instant(last.at),
      })}
    </Text>
  );
}

/** Names who made the last change; nothing if the viewer may not know it. */
export function LastChangedBy({ changed }: { readonly changed: ChangedObject }) {
  const last = useLastChange(changed);
  return last && <ChangedBy changes={[last]} />;
}

/** A change that somebody else has made in the meantime. */
export interface OtherChange {
  /** The id of the user, or the name of a task of the service. */
  readonly by: string;
  readonly at: string;
}

/** A changed record, or an audited object by the name of its kind in the audit trail. */
interface ChangedObject {
  /** The collection of a record, or e.g. `$property`. */
  readonly collection: string;
  readonly id: string;
}

/** Returns the last change; `undefined` until it is read, and if the viewer may not know who made it. */
function useLastChange(changed: ChangedObject): OtherChange | undefined {
  const isRecord = !changed.collection.startsWith('$');
  const { collection, id } = changed;
  const history = useOperation(LastChangeOfRecord, { collection, id }, { isEnabled: isRecord });
  const trail = useOperation(LastAuditedChange, { collection, id }, { isEnabled: !isRecord });
  const [version] = history.data?.recordHistory.nodes ?? [];
  if (version?.by) return { by: version.by.principal, at: version.at };
  const [audited] = trail.data?.auditTrail ?? [];
  return audited && { by: audited.principal, at: audited.at };
}

interface UndoableChange {
  /** The request whose changes can be undone. */
  readonly requestId: string;
  onUndone(): Promise<void>;
}

/** Only the latest change can be undone from the notice; earlier changes, from the history. */
const NOTICE_ID = 'undo';
const SHOWN_MS = 60_000;

/** Shows a notice that something was done, with a button that undoes it. */
export function useUndoNotice(): (message: string, change: UndoableChange) => void {
  const undo = useChange(UndoRequest, [RecordNow, HistoryOfRecord]);
  return (message, { requestId, onUndone }) => {
    const takeBack = async () => {
      notifications.hide(NOTICE_ID);
      try {
        const { undoChange } = await undo.mutateAsync({ requestId });
        const count = undoChange.changed + undoChange.removed + undoChange.broughtBack;
        notice(t('{count, plural, one {# record} other {# records}} restored.', { count }));
        await onUndone();
      } catch (fault) {
        notice(<ProblemWords text={(fault as Error).message} />, 'failed');
        // The page may be older than the change that prevents undoing.
        await onUndone();
      }
    };
    notifications.hide(NOTICE_ID);
    notifications.show({
      id: NOTICE_ID,
      color: 'green',
      autoClose: SHOWN_MS,
      message: (
        <Group justify="space-between" wrap="nowrap">
          <Text>{message}</Text>
          <TextButton label={t('Undo')} size="compact-sm" onClick={() => void takeBack()} />
        </Group>
      ),
    });
  };
}

interface ChangeDialogProps<Result, Variables>
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
  const made = useChange(change, outdated);
  const confirm = async () => {
    // The list with this dialog may be unmounted before the answer arrives.
    const result = await made.mutateAsync(variables);
    dialog.onClose();
    onDone?.(result);
  };
  return <ConfirmDialog {...dialog} of={made} onConfirm={() => void confirm().catch(() => undefined)} />;
}

interface ChangeButtonProps<Result, Variables> extends Omit<ChangeDialogProps<Result, Variables>, 'onClose'> {
  /** Default: the action of the dialog. */
  readonly label?: ReactNode;
  readonly look?: ButtonProps & { readonly 'aria-label'?: string };
}

/** A button that opens a `ChangeDialog`. */
export function ChangeButton<Result, Variables>(props: ChangeButtonProps<Result, Variables>) {
  const { label, look, ...dialog } = props;
  return (
    <DialogButton
      {...look}
      label={label ?? dialog.action}
      dialog={(close) => <ChangeDialog {...dialog} onClose={close} />}
    />
  );
}

interface DialogButtonProps extends TextButtonProps {
  dialog(close: () => void): ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ dialog, ...button }: DialogButtonProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <TextButton {...button} onClick={() => setIsOpen(true)} />
      {isOpen && dialog(() => setIsOpen(false))}
    </>
  );
}

interface ActionButtonProps<Result, Variables>
  extends TextButtonProps,
    Pick<ChangeDialogProps<Result, Variables>, 'change' | 'variables' | 'outdated'> {
  /** Returns the text that reports the change. */
  done(result: Result): string;
}

/** A button that makes a change at once. */
export function ActionButton<Result, Variables>(props: ActionButtonProps<Result, Variables>) {
  const { change, variables, outdated, done, ...button } = props;
  const { mutateAsync, isPending } = useChange(change, outdated);
  // The change may unmount the button before the answer arrives.
  const make = () =>
    mutateAsync(variables).then(
      (result) => notice(done(result)),
      ({ message }: Error) => notice(<ProblemWords text={message} />, 'failed'),
    );
  return <TextButton {...button} loading={isPending} onClick={() => void make()} />;
}

export interface SubmitFormProps {
  /** The label of the button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly of?: SentChange;
  /** Whether the button is enabled. Default: always. */
  readonly isReady?: boolean;
  /** The version of somebody else, if the form was refused because of it. */
  readonly meanwhile?: ChangedMeanwhileProps | undefined;
  /** Called with the texts of the named inputs. */
  onSubmit(texts: Readonly<Record<string, string>>): void;
  /** Shows a button that closes the dialog of the form. */
  onCancel?(): void;
  /** Shown beside the buttons. */
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

/** The inputs of a form one below the other, its error, and the button that sends it. */
export function SubmitForm(props: SubmitFormProps) {
  const { action, isDangerous = false, of = NOT_SENT, isReady = true, meanwhile, onCancel, note } = props;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const texts = Object.fromEntries(new FormData(event.currentTarget));
        props.onSubmit(texts as Readonly<Record<string, string>>);
      }}
    >
      <Stack>
        {props.children}
        {meanwhile && <ChangedMeanwhile {...meanwhile} />}
        {of.error && !meanwhile && <ProblemState problem={of.error} />}
        <Group justify="flex-end">
          {note}
          {onCancel && <TextButton label={t('Cancel')} onClick={onCancel} />}
          <TextButton
            label={action}
            isMain
            type="submit"
            // White on the red of the theme has a contrast of only 3.8:1.
            {...(isDangerous && { color: 'red.9' })}
            loading={of.isPending}
            disabled={!isReady}
          />
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

interface NameDialogProps extends Pick<SubmitFormProps, 'action'> {
  readonly title: string;
  /** The letters that a name may have. */
  readonly description: string;
  readonly pattern?: string;
  onName(name: string): void;
  onClose(): void;
}

/** Asks for the name of a new thing, of which nothing is stored until the rest is written. */
export function NameDialog({ description, pattern, onName, ...dialog }: NameDialogProps) {
  return (
    <FormDialog {...dialog} onSubmit={({ name = '' }) => onName(name.trim())}>
      <TextInput label={t('Name')} name="name" required {...{ description, pattern }} />
    </FormDialog>
  );
}

export interface SecretDialogProps {
  readonly title: string;
  /** Names the secret itself. */
  readonly label: string;
  /** The purpose of the secret, and that it is shown only once. */
  readonly words: ReactNode;
  readonly secret: string;
  /** If given, the secret can also be saved as a file of this name. */
  readonly fileName?: string;
  onClose(): void;
}

/**
 * Shows a secret that is shown only once. Until it was copied or saved, Escape, the cross and a press beside
 * the dialog do not close it; the button that confirms does.
 */
export function SecretDialog({ title, label, words, secret, fileName, onClose }: SecretDialogProps) {
  const [isKept, setKept] = useState(false);
  const [isReminded, setReminded] = useState(false);
  return (
    <Modal opened size="lg" title={title} onClose={() => (isKept ? onClose() : setReminded(true))}>
      <Stack onCopy={() => setKept(true)}>
        <Text component="div">{words}</Text>
        <CodeToCopy title={label} text={secret} onCopy={() => setKept(true)} />
        {isReminded && !isKept && (
          <Text fw={600} role="alert">
            {t('Copy it first, or confirm that you have saved a copy.')}
          </Text>
        )}
        <Group justify="flex-end">
          {fileName && (
            <TextButton
              label={t('Save as a file')}
              onClick={() => {
                saveFile(new Blob([secret, '\n'], { type: 'text/plain' }), fileName);
                setKept(true);
              }}
            />
          )}
          <TextButton label={t('I have saved a copy')} isMain onClick={onClose} />
        </Group>
      </Stack>
    </Modal>
  );
}
