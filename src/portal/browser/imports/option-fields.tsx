/** The options for writing the rows of a file. */
import { Checkbox, NativeSelect, SimpleGrid, Stack, Title } from '@mantine/core';
import { useId } from 'react';
import type { ShownImportFragment } from '../../../generated/portal/imports/imports';
import { useViewer } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { useFieldNames } from '../records/use-declared-collection';
import type { ImportCollection } from './column-choices';

export type ChosenOptions = Pick<ShownImportFragment, 'mode' | 'by' | 'missing' | 'triggers'>;
type ImportTrigger = ChosenOptions['triggers'][number];

export interface OptionFieldsProps {
  readonly options: ChosenOptions;
  readonly collection: ImportCollection;
  onChange(options: ChosenOptions): void;
}

export function OptionFields({ options, collection, onChange }: OptionFieldsProps) {
  const t = useTexts();
  const nameOf = useFieldNames();
  const heading = useId();
  const { collections } = useViewer();
  const mayRemove = collections.some(({ name, canRemove }) => name === collection.name && canRemove);
  const { mode, by, missing, triggers } = options;
  const keys = ['_id', ...collection.fields.filter(({ isUnique }) => isUnique).map(({ name }) => name)];
  const offered = keys.includes(by) ? keys : [by, ...keys];
  const setTrigger = (trigger: ImportTrigger, isOn: boolean) =>
    onChange({
      ...options,
      triggers: [...triggers.filter((one) => one !== trigger), ...(isOn ? [trigger] : [])],
    });
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {t('How it is written')}
      </Title>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          <NativeSelect
            label={t('If rows have errors')}
            value={mode}
            onChange={(event) => onChange({ ...options, mode: event.currentTarget.value as typeof mode })}
            data={[
              { value: 'ATOMIC', label: t('import nothing') },
              { value: 'ROWS', label: t('import the others') },
            ]}
          />
          <NativeSelect
            label={t('Match records by')}
            value={by}
            onChange={(event) => onChange({ ...options, by: event.currentTarget.value })}
            data={offered.map((key) => ({ value: key, label: key === '_id' ? '_id' : nameOf(key) }))}
          />
          <NativeSelect
            label={t('Records missing from the file')}
            value={missing}
            disabled={!mayRemove}
            onChange={(event) =>
              onChange({ ...options, missing: event.currentTarget.value as typeof missing })
            }
            data={[
              { value: 'KEEP', label: t('keep them') },
              { value: 'REMOVE', label: t('remove them: the file is the full list') },
            ]}
          />
        </SimpleGrid>
        <Checkbox
          label={t('Run scripts that check records before saving')}
          checked={triggers.includes('BEFORE')}
          onChange={(event) => setTrigger('BEFORE', event.currentTarget.checked)}
        />
        <Checkbox
          label={t('Run scripts that follow a change')}
          checked={triggers.includes('AFTER')}
          onChange={(event) => setTrigger('AFTER', event.currentTarget.checked)}
        />
      </Stack>
    </section>
  );
}
