import { Anchor } from '@mantine/core';
import { useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { branchInAddress, homeOfBranch } from './branch-in-address';

/** Reminds the user on every page that they work in another school than their own. */
export function BranchNotice() {
  const t = useTexts();
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
