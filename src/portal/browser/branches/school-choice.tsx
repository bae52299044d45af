/** The current school in the header. Users of several schools can change to another one. */

import { Anchor, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { branchInAddress, homeOfBranch } from '../session/graphql-headers';
import { Icon } from '../shell/icon';
import { lazyPart } from '../shell/states';

const BranchDialog = lazyPart(async () => (await import('./branches-section')).BranchDialog);

export function SchoolChoice() {
  const { domain, duties } = useViewer();
  const [isOpen, dialog] = useDisclosure(false);
  if (!duties.includes('branches')) {
    return (
      <Text c="dimmed" truncate className="school-name" title={domain.name}>
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
        <Text c="dimmed" truncate title={domain.name}>
          {domain.name}
        </Text>
        <Icon name="chevron" size={14} />
      </UnstyledButton>
      {isOpen && <BranchDialog onClose={dialog.close} />}
    </>
  );
}

/** Reminds the user on every page that they work in another school than their own. */
export function BranchNotice() {
  const { domain } = useViewer();
  if (branchInAddress() === '') return null;
  return (
    <div className="branch-notice" role="note">
      <span className="wrapped">{t('You are working in {name}.', { name: domain.name })}</span>
      <Anchor inherit href={homeOfBranch('')}>
        {t('Back to your own school')}
      </Anchor>
    </div>
  );
}
