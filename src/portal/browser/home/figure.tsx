import { Text } from '@mantine/core';

export interface FigureProps {
  readonly value: string;
  readonly note?: string;
}

export function Figure({ value, note }: FigureProps) {
  return (
    <div className="figure">
      <Text component="span" className="figure-value">
        {value}
      </Text>
      {note !== undefined && (
        <Text component="span" size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}
