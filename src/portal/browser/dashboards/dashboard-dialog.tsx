import { Button, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { ChangedMeanwhile, InputDialog } from '../shell/confirm-dialog';
import { SharedWithInput } from '../shell/shared-with-input';
import { ProblemState } from '../shell/states';

interface DashboardValues {
  readonly title: string;
  readonly sharedWith: readonly string[];
}

export interface DashboardDialogProps {
  readonly heading: string;
  readonly action: string;
  readonly values: DashboardValues;
  readonly isBusy: boolean;
  readonly problem: Error | null;
  /** The dashboard as somebody else saved it in the meantime, if saving was rejected for that reason. */
  readonly theirs?: (DashboardValues & { readonly id: string }) | undefined;
  onSave(values: DashboardValues): void;
  onClose(): void;
}

/** The name and roles of a new or an existing dashboard. */
export function DashboardDialog(props: DashboardDialogProps) {
  const { heading, action, values, isBusy, problem, theirs, onSave, onClose } = props;
  const t = useTexts();
  const [title, setTitle] = useState(values.title);
  const [sharedWith, setSharedWith] = useState(values.sharedWith);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ title: title.trim(), sharedWith });
  };
  return (
    <InputDialog opened onClose={onClose} title={heading}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Title')}
            required
            maxLength={100}
            value={title}
            onChange={({ currentTarget }) => setTitle(currentTarget.value)}
          />
          <SharedWithInput value={sharedWith} onChange={setSharedWith} />
          {theirs && (
            <ChangedMeanwhile
              changed={{ collection: 'dashboard', id: theirs.id }}
              theirs={[
                [t('Title'), theirs.title],
                [t('Shared with'), theirs.sharedWith.join(', ')],
              ]}
            />
          )}
          {problem && !theirs && <ProblemState problem={problem} />}
          <Button type="submit" loading={isBusy} disabled={title.trim() === ''}>
            {action}
          </Button>
        </Stack>
      </form>
    </InputDialog>
  );
}
