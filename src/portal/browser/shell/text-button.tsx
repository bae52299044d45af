/** Buttons and links that carry a text or an icon. */
import {
  ActionIcon,
  type ActionIconProps,
  Anchor,
  type AnchorProps,
  Button,
  type ButtonProps,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import { Icon, type IconName } from './icon';

type OwnProps<Props> = Omit<ComponentPropsWithRef<'button'>, keyof Props>;

/** A page of the portal, and the query of its address. */
interface LinkTarget {
  readonly to: string;
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly hash?: string;
}

/** The query of a link. The router does not know the parameters of our pages: it would accept none. */
export function searchOf(search: object | undefined): never {
  return search as never;
}

export interface TextButtonProps extends ButtonProps, OwnProps<ButtonProps>, Partial<LinkTarget> {
  readonly label: ReactNode;
  readonly icon?: IconName;
  /** Whether this is the main action of its place, in the colour of the theme. */
  readonly isMain?: boolean;
}

/** A button with a text; with `to`, a link to a page that looks like one. */
export function TextButton({ label, icon, isMain = false, to, search, ...props }: TextButtonProps) {
  const isSmall = icon === 'plus' || props.size !== undefined;
  const look = {
    variant: isMain ? 'filled' : 'default',
    leftSection: icon && <Icon name={icon} size={isSmall ? 14 : 18} />,
    children: label,
  };
  if (to === undefined) return <Button {...look} {...props} />;
  return (
    <Button component={Link} {...{ to, search: searchOf(search) }} {...look} {...(props as ButtonProps)} />
  );
}

export interface IconButtonProps extends ActionIconProps, OwnProps<ActionIconProps> {
  readonly icon: IconName;
  /** The action of the button, for screen readers. */
  readonly label: string;
  readonly iconSize?: number;
}

export function IconButton({ icon, label, iconSize = 18, ...props }: IconButtonProps) {
  return (
    <ActionIcon aria-label={label} {...props}>
      <Icon name={icon} size={iconSize} />
    </ActionIcon>
  );
}

export interface TextLinkProps extends AnchorProps, LinkTarget {
  readonly 'aria-label'?: string;
  readonly children: ReactNode;
}

/** A link to a page of the portal. */
export function TextLink({ search, ...props }: TextLinkProps) {
  return <Anchor component={Link} {...(search && { search: searchOf(search) })} {...props} />;
}
