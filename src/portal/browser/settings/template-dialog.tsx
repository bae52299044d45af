import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { InputDialog } from '../shell/input-dialog';

export interface TemplateDialogProps {
  onName(name: string): void;
  onClose(): void;
}

/** Asks for the name of a new mail template. Nothing is stored until its texts are saved. */
export function TemplateDialog({ onName, onClose }: TemplateDialogProps) {
  const t = useTexts();
  const [name, setName] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onName(name);
  };
  return (
    <InputDialog opened onClose={onClose} title={t('New mail template')}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('Name')}
            description={t('Letters, digits, _, . and -. Used to pick the template when sending.')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            pattern="[A-Za-z0-9_.\-]{1,80}"
            required
          />
          <Group justify="flex-end">
            <Button type="submit">{t('Go on')}</Button>
          </Group>
        </Stack>
      </form>
    </InputDialog>
  );
}
