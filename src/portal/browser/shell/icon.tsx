import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import PATHS from './icon-paths.json';

/** Icons of one stroke on a grid of 24 by 24. Each is beside a text or in a button with a label. */
export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="icon"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The meaning of a state, shown as a colour and as a word, for readers who cannot distinguish colours. */
type Tone = 'good' | 'bad' | 'busy' | 'warning';

/** The states of each tone, in lower case; other states are grey. */
const TONES: Readonly<Record<Tone, string>> = {
  good: 'active on done succeeded sent delivered created added restored approved present',
  bad: 'failed deleted removed erased revoked rejected rolled_back cancelled absent',
  busy: 'invited updated changed running sending trying inspecting received undoing waiting',
  warning: 'ready tried paused pending leave expired slow locked',
};

function toneOf(state: string): string | undefined {
  return Object.entries(TONES).find(([, states]) => states.split(' ').includes(state.toLowerCase()))?.[0];
}

export interface StateTagProps {
  /** The state as the gateway names it; without one, the tag is a grey label. */
  readonly state?: string;
  readonly children: ReactNode;
}

/** A state, or a short label, within a line or a table. */
export function StateTag({ state = '', children }: StateTagProps) {
  return (
    <span className="state-tag" data-tone={toneOf(state)}>
      {children}
    </span>
  );
}

export interface WarningNoticeProps {
  readonly title: string;
  readonly children?: ReactNode;
}

/** A notice to read before continuing, which is not an error. */
export function WarningNotice({ title, children }: WarningNoticeProps) {
  return (
    <Alert variant="default" className="warning-notice" icon={<Icon name="warning" />} title={title}>
      {children}
    </Alert>
  );
}
