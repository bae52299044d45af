/** Amounts beside each other, each with its name and its value: what a handful of parts come to. */
export interface BarListProps {
  /** What is measured, for those who do not see the bars. */
  readonly title: string;
  readonly parts: readonly { readonly name: string; readonly value: number; readonly text: string }[];
}

export function BarList({ title, parts }: BarListProps) {
  const largest = Math.max(...parts.map(({ value }) => value), 0);
  return (
    <ul className="plain-list bar-list" aria-label={title}>
      {parts.map(({ name, value, text }) => (
        <li key={name}>
          <span className="bar-name">{name}</span>
          <span className="bar-text">{text}</span>
          <span className="bar-track" aria-hidden="true">
            <span style={{ width: `${largest === 0 ? 0 : (Math.max(value, 0) / largest) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}
