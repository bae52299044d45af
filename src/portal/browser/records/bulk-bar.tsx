import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';
import { BulkDialog } from './bulk-dialog';
import type { CountedFilter } from './count-up-to-most';
import type { DeclaredCollection } from './declared-collection';
import type { ChosenRecords } from './use-chosen-records';

export interface BulkBarProps {
  readonly collection: DeclaredCollection;
  readonly chosen: ChosenRecords;
  /** The filter of the grid. */
  readonly filter: CountedFilter;
}

/** The bar below the grid while records are selected: the changes that apply to all of them. */
export function BulkBar({ collection, chosen, filter }: BulkBarProps) {
  const t = useTexts();
  // A reload restores the draft of a change, and therefore also the selection that it applies to.
  const [asked, setAsked] = useState<'change' | 'remove' | undefined>(chosen.isKept ? 'change' : undefined);
  const close = () => {
    setAsked(undefined);
    chosen.keepNoLonger();
  };
  const rights = useViewer().collections.find(({ name }) => name === collection.name);
  const { ids, isAll } = chosen;
  if (ids.size === 0 && !isAll) return null;
  const meant: CountedFilter = isAll
    ? filter
    : { collection: collection.name, oquery: '', where: { _id: { in: [...ids] } } };
  return (
    <Group gap="xs" py={6} role="group" aria-label={t('Selection')}>
      <Text size="sm" fw={600} role="status">
        {isAll
          ? t('All filtered records are selected')
          : t('{count, plural, one {# record} other {# records}} selected', { count: ids.size })}
      </Text>
      {!isAll && (
        <Button size="compact-sm" variant="subtle" onClick={chosen.chooseAll}>
          {t('Select all filtered records')}
        </Button>
      )}
      {rights?.canUpdate && (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            setAsked('change');
            chosen.keep();
          }}
        >
          {t('Change a field')}
        </Button>
      )}
      {rights?.canRemove && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="trash" size={14} />}
          onClick={() => setAsked('remove')}
        >
          {t('Remove')}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={chosen.chooseNone}>
        {t('Clear selection')}
      </Button>
      {asked && (
        <BulkDialog
          {...{ collection }}
          kind={asked}
          filter={meant}
          onDone={() => {
            close();
            chosen.chooseNone();
          }}
          onClose={close}
        />
      )}
    </Group>
  );
}
