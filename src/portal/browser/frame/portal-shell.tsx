/** The frame around every page: header, menu (a drawer on a phone), the skip link, and the offline notice. */

import {
  Anchor,
  AppShell,
  Avatar,
  Burger,
  Drawer,
  Group,
  Kbd,
  Menu,
  Modal,
  NavLink,
  Stack,
  Table,
  Text,
  UnstyledButton,
} from '@mantine/core';
import {
  useDisclosure,
  useHotkeys,
  useLocalStorage,
  useMediaQuery,
  useNetwork,
  useWindowEvent,
} from '@mantine/hooks';
import { useMutationState } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Fragment, Suspense, useEffect, useRef, useState } from 'react';
import { KeepLanguage } from '../../../generated/portal/shell/viewer';
import { BranchNotice, SchoolChoice } from '../branches/school-choice';
import { Brand, Preferences } from '../entrance/entrance-card';
import { useChange, useSession, useViewer } from '../gateway/use-gateway';
import { formats, phrase, t, useLanguage } from '../language/texts';
import { findPage, MENU_GROUPS, type MenuGroup, manualOf, PORTAL_PAGES } from '../portal-pages';
import { titleOfSheet, useSheets } from '../sheets/use-sheets';
import { Icon, type IconName } from '../shell/icon';
import { PrintedOnly } from '../shell/lazy-sections';
import { LoadingState, lazyPart } from '../shell/states';
import { IconButton, TextButton } from '../shell/text-button';
import { SwitchField } from '../shell/text-field';

const SearchPalette = lazyPart(async () => (await import('../search/search-palette')).SearchPalette);

export function PortalShell() {
  useLanguage();
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  const { pathname } = useLocation();
  const isFull = findPage(pathname)?.isFull === true;
  const keepLanguage = useChange(KeepLanguage);
  const [isSearchOpen, search] = useDisclosure(false);
  const [turn, setTurn] = useState(0);
  useShortcuts(help.open);
  // Works while the user types, too.
  useHotkeys([['mod+K', search.open]], [], true);
  useFocusAfterRemoval();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link in the menu leads to another address.
  useEffect(menu.close, [pathname]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{
        width: 232,
        breakpoint: 'md',
        collapsed: { mobile: true, desktop: isFull && pathname === '/explore' },
      }}
      padding={0}
    >
      <UnstyledButton className="skip-link" onClick={skipToPage}>
        {t('Skip to the page')}
      </UnstyledButton>
      <AppShell.Header className="portal-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            {(!isWide || pathname === '/explore') && (
              <Burger opened={isMenuOpen} onClick={menu.open} size="sm" aria-label={t('Open the menu')} />
            )}
            <Link to="/" className="brand-link" aria-label={t('Campus Gateway, home')}>
              <Brand />
            </Link>
            <SchoolChoice />
          </Group>
          <Group gap={4} wrap="nowrap">
            <IconButton icon="search" label={t('Search everything')} size="lg" onClick={search.open} />
            <IconButton icon="help" label={t('Help')} size="lg" onClick={help.open} visibleFrom="sm" />
            <Preferences onLanguage={(language) => keepLanguage.mutate({ language })} />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="portal-navbar" aria-label={t('Pages')}>
        {isWide && <MainMenu />}
      </AppShell.Navbar>
      <Drawer opened={isMenuOpen} onClose={menu.close} size={280} title={<Brand />}>
        <nav aria-label={t('Pages')}>
          <MainMenu />
        </nav>
      </Drawer>
      <AppShell.Main className={isFull ? 'portal-main portal-main-full' : 'portal-main'}>
        <PrintedOnly>
          <PrintedHead />
        </PrintedOnly>
        <OfflineNotice onWithdraw={() => setTurn(turn + 1)} />
        <BranchNotice />
        <div key={turn} id="content" tabIndex={-1}>
          <Suspense fallback={<LoadingState />}>
            <Outlet />
          </Suspense>
        </div>
      </AppShell.Main>
      {isSearchOpen && <SearchPalette onClose={search.close} />}
      <ShortcutsHelp isOpen={isHelpOpen} onClose={help.close} />
    </AppShell>
  );
}

/** The address of the manual on the page that is shown. */
function useManual(): string {
  return manualOf(useLocation().pathname, useLanguage().language);
}

function skipToPage(): void {
  document.querySelector<HTMLElement>('#content')?.focus();
}

function AccountMenu() {
  const session = useSession();
  const { name, userName, roles } = useViewer();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className="account-button" aria-label={t('Account of {userName}', { userName })}>
          <Avatar component="span" size={30} color="campus" variant="light">
            <Icon name="user" />
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className="account-who">
          <Text fw={600} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {userName} · {roles.join(', ')}
          </Text>
        </div>
        <Menu.Divider />
        <Menu.Item component={Link} to="/portal/account" leftSection={<Icon name="settings" />}>
          {t('My account')}
        </Menu.Item>
        <Menu.Item component="a" href={useManual()} leftSection={<Icon name="book" />}>
          {t('Manual')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="logout" />} onClick={() => void session.logOut()}>
          {t('Log out')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The head of a printed page: the school and the time. */
function PrintedHead() {
  const { domain } = useViewer();
  return (
    <Group justify="space-between" className="printed-head">
      <strong>{domain.name}</strong>
      <span>{formats.instant(new Date().toISOString())}</span>
    </Group>
  );
}

/** Redrawing the page withdraws its pending changes. Input in forms of records is kept. */
function OfflineNotice({ onWithdraw }: { onWithdraw(): void }) {
  const { online } = useNetwork();
  const count = useMutationState({ filters: { predicate: ({ state }) => state.isPaused } }).length;
  return (
    <div role="status">
      {!online && (
        <div className="offline-notice">
          <Icon name="offline" />{' '}
          {t('You are offline. This page may be out of date. Nothing you enter is lost.')}{' '}
          {count > 0 && (
            <>
              {t('{count, plural, one {# change waits} other {# changes wait}} for the network.', {
                count,
              })}{' '}
              <TextButton label={t('Withdraw')} size="compact-sm" onClick={onWithdraw} />
            </>
          )}
        </div>
      )}
    </div>
  );
}

/** The menu of the pages that the viewer has access to, by group. */
function MainMenu() {
  const viewer = useViewer();
  const { pathname } = useLocation();
  const manual = useManual();
  const pages = PORTAL_PAGES.filter(({ menu, isFor }) => menu && isFor(viewer));
  return (
    <Stack gap="md">
      {Object.entries(MENU_GROUPS).map(([group, label]) => {
        const own = pages.filter(({ menu }) => menu?.group === (group as MenuGroup));
        if (own.length === 0) return null;
        return (
          <section key={group} aria-label={t(label)}>
            <Text size="xs" fw={600} c="dimmed" px="sm" mb={4}>
              {t(label)}
            </Text>
            {own.map((page) => (
              <Fragment key={page.path}>
                <MenuLink to={page.path} isActive={isWithin(pathname, page.path)}>
                  <Icon name={page.menu?.icon ?? 'none'} />
                  {t(page.label)}
                </MenuLink>
                {page.path === '/' && <SheetLinks />}
              </Fragment>
            ))}
            {group === 'developer' && (
              <>
                <NavLink href="/docs" label={t('REST documentation')} leftSection={<Icon name="file" />} />
                <NavLink href={manual} label={t('Manual')} leftSection={<Icon name="book" />} />
              </>
            )}
          </section>
        );
      })}
    </Stack>
  );
}

/** Sheets come first in the menu, because a day begins with them. */
function SheetLinks() {
  const { pathname } = useLocation();
  return useSheets().map((sheet) => {
    const to = `/portal/sheets/${sheet.name}`;
    return (
      <MenuLink key={to} to={to} isActive={isWithin(pathname, to)}>
        <Icon name={(sheet.icon as IconName | undefined) ?? 'table'} />
        {titleOfSheet(sheet).title}
      </MenuLink>
    );
  });
}

interface MenuLinkProps {
  readonly to: string;
  readonly isActive: boolean;
  readonly children: [React.ReactNode, string];
}

/**
 * The explorer has its own content security policy, so a link to it loads a new document, and so does the way
 * back.
 */
function MenuLink({ to, isActive, children: [icon, label] }: MenuLinkProps) {
  const { pathname } = useLocation();
  const isOtherPolicy = (to === '/explore') !== (pathname === '/explore');
  const look = {
    label,
    leftSection: icon,
    active: isActive,
    ...(isActive && { 'aria-current': 'page' as const }),
  };
  return isOtherPolicy ? <NavLink href={to} {...look} /> : <NavLink component={Link} to={to} {...look} />;
}

function isWithin(pathname: string, path: string): boolean {
  if (path === '/') return pathname === '/' || pathname === '/portal';
  return pathname === path || pathname.startsWith(`${path}/`);
}

/** The pages by the key pressed after `g`. */
const GO_TO: Readonly<Record<string, string>> = {
  h: '/',
  r: '/portal/records',
  p: '/portal/reports',
};

const OTHERS: readonly (readonly [string, string])[] = [
  ['/', phrase('Search this page')],
  ['Ctrl K', phrase('Search everything')],
  ['Ctrl S', phrase('Save the record')],
  ['?', phrase('This help')],
  ['Esc', phrase('Close a dialog or a menu')],
];

/** How long to wait for the second key. */
const SEQUENCE_MS = 1_200;

function useAreKeysOn() {
  return useLocalStorage({ key: 'campus-portal-shortcuts', defaultValue: true });
}

function useShortcuts(openHelp: () => void): void {
  const navigate = useNavigate();
  const [areKeysOn] = useAreKeysOn();
  const leader = useRef(0);
  useWindowEvent('keydown', (event) => {
    if (!areKeysOn || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    const isSecond = Date.now() - leader.current < SEQUENCE_MS;
    leader.current = event.key === 'g' ? Date.now() : 0;
    const to = isSecond ? GO_TO[event.key] : undefined;
    if (to !== undefined) void navigate({ to });
    else if (event.key === '?') openHelp();
    else if (event.key === '/') focusSearch(event);
  });
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role=dialog], .graphiql-container') !== null
  );
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>('#content input[type=search]');
  if (!search) return;
  event.preventDefault();
  search.focus();
}

function ShortcutsHelp({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const viewer = useViewer();
  const [areKeysOn, setAreKeysOn] = useAreKeysOn();
  const pages = Object.entries(GO_TO).flatMap(([key, path]) =>
    PORTAL_PAGES.filter((page) => page.path === path && page.isFor(viewer)).map(
      ({ label }) => [key, label] as const,
    ),
  );
  return (
    <Modal opened={isOpen} onClose={onClose} title={t('Help')}>
      <Stack>
        <Anchor href={useManual()}>{t('The manual on this page')}</Anchor>
        <Text fw={600}>{t('Keyboard shortcuts')}</Text>
        <Table>
          <Table.Tbody>
            {pages.map(([key, label]) => (
              <Table.Tr key={key}>
                <Table.Td w={110}>
                  <Kbd>g</Kbd> <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{t(label)}</Table.Td>
              </Table.Tr>
            ))}
            {OTHERS.map(([key, label]) => (
              <Table.Tr key={key}>
                <Table.Td>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{t(label)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <SwitchField checked={areKeysOn} onChange={setAreKeysOn} label={t('Use these keys')} />
      </Stack>
    </Modal>
  );
}

/**
 * The library returns the focus to the element that opened a dialog within this time after the dialog closes.
 */
const GIVEN_BACK_MS = 60;

/**
 * Moves the focus when the element that had it is removed. After a dialog, the element that opened it gets
 * the focus. If that is gone too, such as a removed row, or if a pressed button is gone, the heading of the
 * page gets it; otherwise, the keyboard would start at the top of the window again.
 *
 * @see https://www.w3.org/TR/WCAG22/#focus-order
 */
function useFocusAfterRemoval(): void {
  useEffect(() => {
    let focused: Element | undefined;
    let before: HTMLElement | undefined;
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      const isInDialog = target.closest('[role=dialog]') !== null;
      // Buttons in rows are ignored, because scrolling adds and removes rows.
      const isButton = target.matches('button') && target.closest('[role=row], [role=menu]') === null;
      focused = isInDialog || isButton ? target : undefined;
      // An item of a menu is removed with the menu; the element that opened the menu stays.
      if (!isInDialog && !target.closest('[role=menu]')) before = target;
    };
    const observer = new MutationObserver(() => {
      if (focused === undefined || focused.isConnected) return;
      focused = undefined;
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        before?.focus();
        if (document.activeElement !== document.body) return;
        document.querySelector<HTMLElement>('#content h1')?.focus({ preventScroll: true });
      }, GIVEN_BACK_MS);
    });
    document.addEventListener('focusin', note);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}
