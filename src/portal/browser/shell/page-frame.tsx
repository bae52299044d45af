import { Anchor, Breadcrumbs, Group, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

export interface PageFrameProps {
  /** The heading of the page, and the title of the window. */
  readonly title: string;
  readonly description?: ReactNode;
  /** The pages above, from the top. */
  readonly above?: readonly { readonly label: string; readonly to: string }[];
  /** Buttons beside the heading. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/**
 * The frame of every page. After a navigation, the heading gets the focus, so that a screen reader announces
 * the page and the keyboard continues from there.
 */
export function PageFrame({ title, description, above = [], actions, children }: PageFrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Campus Gateway`;
  }, [title]);
  useEffect(() => {
    // On the first load, the focus stays at the top of the document.
    if (document.body.dataset.navigated !== undefined) heading.current?.focus({ preventScroll: true });
    document.body.dataset.navigated = '';
  }, []);
  return (
    <>
      <header className="page-head">
        <div className="page-title">
          {above.length > 0 && (
            <Breadcrumbs mb={4} separatorMargin={6} className="no-print">
              {above.map(({ label, to }) => (
                <Anchor key={to} component={Link} to={to} size="sm">
                  {label}
                </Anchor>
              ))}
            </Breadcrumbs>
          )}
          <Title order={1} size="h2" ref={heading} tabIndex={-1} title={title}>
            {title}
          </Title>
          {description !== undefined && (
            <Text component="div" c="dimmed" size="sm" className="page-about">
              {description}
            </Text>
          )}
        </div>
        {actions !== undefined && (
          <Group gap="xs" className="page-actions">
            {actions}
          </Group>
        )}
      </header>
      {children}
    </>
  );
}
