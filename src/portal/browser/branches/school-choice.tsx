/** The current school in the header. Users of several schools can change to another one. */
import { Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { useViewer } from '../shell/viewer';

const BranchDialog = lazy(async () => ({ default: (await import('./branches-section')).BranchDialog }));

export function SchoolChoice() {
  const t = useTexts();
  const { domain, duties } = useViewer();
  const [isOpen, dialog] = useDisclosure(false);
  if (!duties.includes('branches')) {
    return (
      <Text size="sm" c="dimmed" truncate className="school-name" title={domain.name}>
        {domain.name}
      </Text>
    );
  }
  return (
    <>
      <UnstyledButton
        className="school-name school-choice"
        onClick={dialog.open}
        aria-label={t('School: {name}. Switch to another one', { name: domain.name })}
        aria-haspopup="dialog"
      >
        <Text size="sm" c="dimmed" truncate title={domain.name}>
          {domain.name}
        </Text>
        <Icon name="chevron" size={14} />
      </UnstyledButton>
      {isOpen && (
        <Suspense>
          <BranchDialog onClose={dialog.close} />
        </Suspense>
      )}
    </>
  );
}
