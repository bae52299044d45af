import { Button, Group } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTexts } from '../language/use-texts';
import { Icon } from './icon';

export interface PageFilterProps {
  /** Whether the filter restricts anything. */
  readonly isSet: boolean;
  onClear(): void;
  /** Whether the filter has so few inputs that a phone shows them too. */
  readonly isShort?: boolean;
  readonly children: ReactNode;
}

/** The inputs that filter the list below. On a phone, a button opens them. */
export function PageFilter({ isSet, onClear, isShort = false, children }: PageFilterProps) {
  const t = useTexts();
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const [isOpen, setIsOpen] = useState(false);
  const isFolded = isNarrow && !isShort;
  const clear = isSet && (
    <Button variant="default" onClick={onClear}>
      {t('Clear the filter')}
    </Button>
  );
  return (
    <>
      {isFolded && (
        <Group gap="xs" mb="sm">
          <Button
            variant={isSet ? 'light' : 'default'}
            leftSection={<Icon name="filter" />}
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            {t('Filter')}
          </Button>
          {clear}
        </Group>
      )}
      {(!isFolded || isOpen) && (
        <Group gap="xs" mb="sm" align="flex-end" className="page-filter">
          {children}
          {!isFolded && clear}
        </Group>
      )}
    </>
  );
}
