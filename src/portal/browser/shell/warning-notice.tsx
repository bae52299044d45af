import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from './icon';

export interface WarningNoticeProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** What is to be known before going on, and is no fault. */
export function WarningNotice({ title, children }: WarningNoticeProps) {
  return (
    <Alert variant="default" className="warning-notice" icon={<Icon name="warning" />} title={title}>
      {children}
    </Alert>
  );
}
