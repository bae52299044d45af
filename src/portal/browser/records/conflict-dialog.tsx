import { Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';
import { ChangedBy, type OtherChange } from '../shell/changed-meanwhile';
import { type DeclaredField } from './declared-field';
import { useValueText } from './use-allowed-words';
import { useFieldNames } from './use-declared-collection';

/** A field that two people changed: its previous value, and the value of each person. */
interface FieldConflict {
  readonly field: DeclaredField;
  readonly before: unknown;
  readonly theirs: unknown;
  readonly mine: unknown;
}

export interface ConflictDialogProps {
  readonly fields: readonly FieldConflict[];
  /** The last one first; empty if the viewer may not know who made them. */
  readonly otherChanges: readonly OtherChange[];
  /** Called with the names of the fields that keep the other person's value. */
  onChosen(kept: ReadonlySet<string>): void;
  onClose(): void;
}

/**
 * Shown if somebody else changed the record in the meantime: the person chooses between the two values of
 * each field.
 */
export function ConflictDialog({ fields, otherChanges, onChosen, onClose }: ConflictDialogProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const valueText = useValueText();
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const choose = (name: string, side: string) => {
    const next = new Set(kept);
    if (side === 'theirs') next.add(name);
    else next.delete(name);
    setKept(next);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={t('Someone else has changed this record')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
        <ChangedBy changes={otherChanges} />
        <Text size="sm">
          {fields.length === 0
            ? t('They changed other fields than you did. Save yours too?')
            : t('Choose which value to keep for the fields you both changed.')}
        </Text>
        {fields.map(({ field, before, theirs, mine }) => (
          <Radio.Group
            key={field.name}
            label={nameOf(field.name)}
            description={t('It was: {value}', { value: valueText(before, field) || '—' })}
            descriptionProps={{ mt: 8 }}
            value={kept.has(field.name) ? 'theirs' : 'mine'}
            onChange={(side) => choose(field.name, side)}
          >
            <Stack gap={6} mt={6}>
              <Radio value="mine" label={t('Mine: {value}', { value: valueText(mine, field) || '—' })} />
              <Radio
                value="theirs"
                label={t('Theirs: {value}', { value: valueText(theirs, field) || '—' })}
              />
            </Stack>
          </Radio.Group>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('Keep editing')}
          </Button>
          <Button onClick={() => onChosen(kept)}>{t('Save my choice')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
