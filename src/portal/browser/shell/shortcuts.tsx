/** The keyboard shortcuts, which users of other single-key commands can switch off. */
import { Kbd, Modal, Stack, Switch, Table } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { phrase, useTexts } from '../language/use-texts';
import { PORTAL_PAGES } from '../portal-pages';
import { useViewer } from './viewer';

/** The pages by the key pressed after `g`. */
const GO_TO: Readonly<Record<string, string>> = {
  h: '/',
  r: '/portal/records',
  p: '/portal/reports',
};

const OTHERS: readonly (readonly [string, string])[] = [
  ['/', phrase('Search this page')],
  ['Ctrl K', phrase('Search everything')],
  ['?', phrase('This help')],
  ['Esc', phrase('Close a dialog or a menu')],
];

/** How long to wait for the second key. */
const SEQUENCE_MS = 1_200;

function useAreKeysOn() {
  return useLocalStorage({ key: 'campus-portal-shortcuts', defaultValue: true });
}

/** Ctrl K or ⌘ K opens the search everywhere, also while one types. */
export function useSearchKey(open: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      open();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [open]);
}

export function useShortcuts(openHelp: () => void): void {
  const navigate = useNavigate();
  const [areKeysOn] = useAreKeysOn();
  const leader = useRef(0);
  useEffect(() => {
    if (!areKeysOn) return undefined;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const isSecond = Date.now() - leader.current < SEQUENCE_MS;
      leader.current = event.key === 'g' ? Date.now() : 0;
      const to = isSecond ? GO_TO[event.key] : undefined;
      if (to !== undefined) void navigate({ to });
      else if (event.key === '?') openHelp();
      else if (event.key === '/') focusSearch(event);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [areKeysOn, navigate, openHelp]);
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

export function ShortcutsHelp({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const t = useTexts();
  const viewer = useViewer();
  const [areKeysOn, setAreKeysOn] = useAreKeysOn();
  const pages = Object.entries(GO_TO).flatMap(([key, path]) =>
    PORTAL_PAGES.filter((page) => page.path === path && page.isFor(viewer)).map(
      ({ label }) => [key, label] as const,
    ),
  );
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={t('Keyboard shortcuts')}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      <Stack>
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
        <Switch
          checked={areKeysOn}
          onChange={(event) => setAreKeysOn(event.currentTarget.checked)}
          label={t('Use these keys')}
        />
      </Stack>
    </Modal>
  );
}
