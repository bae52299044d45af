import type { ReactNode } from 'react';

export interface FactStripProps {
  /** What each is called, and what it is; one without a value is left out. */
  readonly facts: readonly (readonly [name: string, value: ReactNode])[];
}

/** What the page is about, in a few words below its heading: they stay in sight whichever tab is opened. */
export function FactStrip({ facts }: FactStripProps) {
  return (
    <dl className="fact-strip">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
