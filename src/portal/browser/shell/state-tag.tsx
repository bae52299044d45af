import type { ReactNode } from 'react';

/** What a state means to who reads it; its word says it too, for those who do not tell the colours apart. */
type Tone = 'good' | 'bad' | 'busy' | 'warning';

/** By the states of everything that has one, in lower case; others are grey. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  on: 'good',
  done: 'good',
  succeeded: 'good',
  sent: 'good',
  delivered: 'good',
  created: 'good',
  added: 'good',
  restored: 'good',
  approved: 'good',
  present: 'good',
  failed: 'bad',
  deleted: 'bad',
  removed: 'bad',
  erased: 'bad',
  revoked: 'bad',
  rejected: 'bad',
  absent: 'bad',
  invited: 'busy',
  updated: 'busy',
  changed: 'busy',
  running: 'busy',
  sending: 'busy',
  trying: 'busy',
  inspecting: 'busy',
  received: 'busy',
  undoing: 'busy',
  waiting: 'busy',
  ready: 'warning',
  tried: 'warning',
  paused: 'warning',
  pending: 'warning',
  leave: 'warning',
  expired: 'warning',
  slow: 'warning',
};

export interface StateTagProps {
  /** As the gateway calls it; what has no colour of its own is a label. */
  readonly state?: string;
  readonly children: ReactNode;
}

/** The state of something, or a short label of it, within a line or a table. */
export function StateTag({ state = '', children }: StateTagProps) {
  return (
    <span className="state-tag" data-tone={TONES[state.toLowerCase()]}>
      {children}
    </span>
  );
}
