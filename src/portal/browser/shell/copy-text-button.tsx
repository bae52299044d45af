import { Button, CopyButton } from '@mantine/core';
import { useTexts } from '../language/use-texts';

export interface CopyTextButtonProps {
  /** What is copied, for screen readers. */
  readonly title: string;
  readonly text: string;
}

export function CopyTextButton({ title, text }: CopyTextButtonProps) {
  const t = useTexts();
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button size="compact-sm" variant="default" onClick={copy} aria-label={t('Copy {title}', { title })}>
          {copied ? t('Copied') : t('Copy')}
        </Button>
      )}
    </CopyButton>
  );
}
