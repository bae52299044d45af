/** A tile of the home page: a figure or a chart of one operation, and a link to the whole of it. */
import { Anchor, Card, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PortalOperation } from '../gateway/portal-operation';
import { useOperation } from '../gateway/use-operation';
import { dayBefore } from '../language/days-before';
import { useTexts } from '../language/use-texts';
import { InSteps } from '../shell/in-steps';
import { InTurn } from '../shell/in-turns';
import { LoadingState, ProblemState } from '../shell/states';
import { TileRefresher } from './tile-refresher';

export interface TileProps<Result, Variables> {
  readonly title: string;
  readonly operation: PortalOperation<Result, Variables>;
  readonly variables: Variables;
  /** The report of the operation, by its field. The tile is reloaded when the report changes. */
  readonly report?: string;
  /** The page with all rows, by the same filter. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isWide?: boolean;
  readonly show: (result: Result) => ReactNode;
}

export interface DayTileProps {
  readonly day: string;
  /** The name of the report, for its address. */
  readonly report: string;
}

/** The records of the leave tile and figure: the requests made by the end of the day that are not decided. */
export function leaveToDecide(day: string): Readonly<Record<string, string>> {
  return { oquery: `status=pending,created_on=<${dayBefore(day, -1)}`, sort: '-from' };
}

export function Tile<Result, Variables>(props: TileProps<Result, Variables>) {
  const { title, to, search = {}, isWide = false } = props;
  const t = useTexts();
  return (
    <Card
      component="section"
      withBorder
      padding="md"
      className={isWide ? 'tile tile-wide' : 'tile'}
      aria-label={title}
    >
      <Group justify="space-between" wrap="nowrap" mb="xs" align="baseline">
        <Text component="h2" fw={600} size="sm" c="dimmed">
          {title}
        </Text>
        <Anchor
          component={Link}
          to={to}
          search={search as never}
          size="sm"
          aria-label={t('Open: {title}', { title })}
          className="no-print"
        >
          {t('Open')}
        </Anchor>
      </Group>
      <InTurn before={<div className="tile-waiting" />}>
        <TileAnswer {...props} />
      </InTurn>
    </Card>
  );
}

function TileAnswer<Result, Variables>({ operation, variables, report, show }: TileProps<Result, Variables>) {
  const { data, error, refetch } = useOperation(operation, variables, { keepsPrevious: true });
  return (
    <>
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!error && data === undefined && <LoadingState rows={5} />}
      {data !== undefined && <InSteps before={<LoadingState rows={5} />}>{show(data)}</InSteps>}
      {report !== undefined && <TileRefresher asked={operation.name} report={report} />}
    </>
  );
}
