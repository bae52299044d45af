import { Button, Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { phrase, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';
import type { WrittenField } from './written-declaration';

export interface AddFieldFormProps {
  /** Whether the text is not a declaration, so that no field can be added. */
  readonly isOff: boolean;
  onAdd(field: WrittenField): void;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  text: phrase('Text'),
  number: phrase('Number'),
  boolean: phrase('Yes or no'),
  date: phrase('Day'),
  datetime: phrase('Day and time'),
  reference: phrase('Reference to a record'),
};

const NO_FIELD = { name: '', type: 'text', target: '', isRequired: false };

/** Adds a field to the declaration, for users who do not know the format of declarations. */
export function AddFieldForm({ isOff, onAdd }: AddFieldFormProps) {
  const t = useTexts();
  const { collections } = useViewer();
  const [field, setField] = useState(NO_FIELD);
  const set = (changes: Partial<typeof NO_FIELD>) => setField({ ...field, ...changes });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onAdd(toWritten(field));
    setField(NO_FIELD);
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <TextInput
          label={t('Name of the field')}
          value={field.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          pattern="[A-Za-z0-9_$\-]{1,60}"
          required
        />
        <NativeSelect
          label={t('Type')}
          value={field.type}
          onChange={(event) => set({ type: event.currentTarget.value })}
          data={Object.entries(TYPE_NAMES).map(([value, label]) => ({ value, label: t(label) }))}
        />
        {field.type === 'reference' && (
          <NativeSelect
            label={t('Of which collection')}
            value={field.target}
            onChange={(event) => set({ target: event.currentTarget.value })}
            data={[
              { value: '', label: '' },
              ...collections.map(({ name, title }) => ({ value: name, label: title })),
            ]}
            required
          />
        )}
        <Checkbox
          label={t('Required')}
          checked={field.isRequired}
          onChange={(event) => set({ isRequired: event.currentTarget.checked })}
          mb={8}
        />
        <Button type="submit" variant="default" disabled={isOff} leftSection={<Icon name="plus" size={14} />}>
          {t('Add the field')}
        </Button>
      </Group>
    </form>
  );
}

function toWritten({ name, type, target, isRequired }: typeof NO_FIELD): WrittenField {
  return {
    name,
    type: type === 'date' ? 'datetime' : type,
    ...(type === 'date' && { format: 'date' }),
    ...(type === 'reference' && { target }),
    ...(isRequired && { required: true }),
  };
}
