import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';
import { t } from './language/texts';

/** The accent colour: a blue whose sixth step has a contrast of 4.5:1 on white, and its fourth on black. */
const CAMPUS: MantineColorsTuple = [
  '#eef4fd',
  '#dbe6f8',
  '#b4caf0',
  '#8aade9',
  '#6694e2',
  '#4f84df',
  '#2d6bc9',
  '#1f5bb3',
  '#194e9c',
  '#0f4085',
];

/** Greys with a trace of the accent. Dark surfaces differ only by lightness. */
const DARK: MantineColorsTuple = [
  '#d3d9e3',
  '#b7bfcc',
  '#8e97a6',
  '#667080',
  '#3b4352',
  '#2f3643',
  '#242a35',
  '#1b1f28',
  '#14171d',
  '#0e1116',
];

/** Buttons of the library that have no text are named in the language of the page. */
function namedClose() {
  return { closeButtonProps: { 'aria-label': t('Close') } };
}

/** The library makes the head of a dialog a `header`, which would be a second banner of the page. */
const PLAIN_HEAD = { attributes: { header: { role: 'presentation' } } };

export const THEME = createTheme({
  primaryColor: 'campus',
  primaryShade: { light: 7, dark: 7 },
  colors: { campus: CAMPUS, dark: DARK },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Devanagari", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: {
    fontWeight: '650',
    sizes: {
      h2: { fontSize: '24px', lineHeight: '1.35' },
      h3: { fontSize: '19px', lineHeight: '1.4' },
      h4: { fontSize: '16px', lineHeight: '1.45' },
    },
  },
  components: {
    // Fields beside each other line up, whatever the length of their descriptions.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Modal: { defaultProps: () => ({ centered: true, ...namedClose(), ...PLAIN_HEAD }) },
    Drawer: { defaultProps: () => ({ ...namedClose(), ...PLAIN_HEAD }) },
    Notification: { defaultProps: namedClose },
    PasswordInput: {
      defaultProps: () => ({ visibilityToggleButtonProps: { 'aria-label': t('Show characters') } }),
    },
    // Most texts are of this size, links within a line too; most headings are those of a section.
    Text: { defaultProps: { size: 'sm' } },
    Title: { defaultProps: { order: 2, size: 'h4' } },
    // Typing highlights a choice, which Enter selects.
    Select: { defaultProps: { selectFirstOptionOnChange: true } },
    // A form with twenty choices would lay out twenty lists that nobody has opened.
    Combobox: { defaultProps: { keepMounted: false } },
    // The role of a choice already has the meaning of its arrow.
    ComboboxChevron: { defaultProps: { 'aria-hidden': true } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    Loader: { defaultProps: { type: 'dots' } },
  },
});

/** Dimmed texts still have a contrast of 4.5:1 on every background of the portal. */
export const READABLE: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': '#1a2233',
    '--mantine-color-bright': '#101828',
    '--mantine-color-dimmed': '#566071',
    '--mantine-color-placeholder': '#667085',
    '--mantine-color-error': '#c2281f',
    '--campus-ground': '#f6f7f9',
    '--campus-line': '#e2e6ec',
    '--campus-soft': '#eef1f5',
    '--campus-paper': '#ffffff',
  },
  dark: {
    '--mantine-color-text': '#dfe4ec',
    '--mantine-color-bright': '#f5f7fa',
    '--mantine-color-dimmed': '#a9b1bf',
    '--mantine-color-placeholder': '#939cab',
    '--mantine-color-error': '#ff9a90',
    '--mantine-color-anchor': '#8ab4f8',
    '--mantine-color-red-light': '#3a2023',
    '--mantine-color-red-light-color': '#ffb3aa',
    '--mantine-color-yellow-light': '#332a14',
    '--mantine-color-yellow-light-color': '#f6cf7a',
    '--mantine-color-campus-light': '#1c3353',
    '--mantine-color-campus-light-hover': '#234069',
    '--mantine-color-campus-light-color': '#b4d0fb',
    '--campus-ground': '#14171d',
    '--campus-line': '#2f3643',
    '--campus-soft': '#262d39',
    '--campus-paper': '#1b1f28',
  },
});

/** Styles written by components carry the nonce of this page. The page of the explorer has none. */
export function nonceOfPage(): string {
  return document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
}
