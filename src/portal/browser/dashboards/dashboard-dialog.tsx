import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
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
  onSave(values: DashboardValues): void;
  onClose(): void;
}

/** What a dashboard is called and who sees it, of a new one and of one that there is. */
export function DashboardDialog(props: DashboardDialogProps) {
  const { heading, action, values, isBusy, problem, onSave, onClose } = props;
  const t = useTexts();
  const [title, setTitle] = useState(values.title);
  const [sharedWith, setSharedWith] = useState(values.sharedWith);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ title: title.trim(), sharedWith });
  };
  return (
    <Modal opened onClose={onClose} title={heading} closeButtonProps={{ 'aria-label': t('Close') }}>
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
          {problem && <ProblemState problem={problem} />}
          <Button type="submit" loading={isBusy} disabled={title.trim() === ''}>
            {action}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
