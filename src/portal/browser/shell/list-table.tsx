/** The parts of a list: its table, the button that reads more, and the choices of its filter. */
import { Box, Group, Table, type TableProps, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { Fragment, type ReactNode, type Ref } from 'react';
import { t } from '../language/texts';
import { DialogButton } from './confirm-dialog';
import { Icon, type IconName } from './icon';
import { directionOf, type SortedColumn } from './sort-rows';
import {
  Answered,
  EmptyState,
  PageFrame,
  type PageFrameProps,
  type QueryAnswer,
  TitledSection,
} from './states';
import { TextButton } from './text-button';
import type { MoreRows } from './virtual-table';

/**
 * The head of a column, its cell, and the class of the cell; `numeric` and a few others are also those of the
 * head. Cells of the class `row-head` are the heads of their rows. On a phone, a text labels each of its
 * cells. In a table with an order, the head of a column with `by` is a button that sorts by it.
 */
export type ListColumn<Row> = readonly [
  head: ReactNode,
  cell: (row: Row) => ReactNode,
  className?: string | undefined,
  by?: SortedColumn<Row> | undefined,
];

/** The order that the heads of a list show and change; `sortRows` applies it. */
interface ListOrder {
  readonly sort: string;
  onSort(sort: string): void;
}

export interface ListTableProps<Row> extends TableProps {
  readonly label: string;
  readonly columns: readonly ListColumn<Row>[];
  readonly rows: readonly Row[];
  readonly order?: ListOrder;
  /** Default: the member `id` or `name` of the row. */
  readonly keyOf?: (row: Row, index: number) => string;
  /** The class of the scrolling element. */
  readonly scrollClass?: string;
  readonly scroller?: Ref<HTMLDivElement>;
  /** Content below a row that spans all columns, such as its details. */
  readonly detailsOf?: (row: Row) => ReactNode;
}

/** A part of a page that is a table, under a heading. */
export function ListSection<Row>(props: ListTableProps<Row>) {
  return (
    <TitledSection title={props.label}>
      <ListTable {...props} />
    </TitledSection>
  );
}

/** A table of a few hundred rows at most. On a phone each row is a card. */
export function ListTable<Row>({
  label,
  columns,
  rows,
  order,
  keyOf = idOf,
  scrollClass = '',
  scroller,
  detailsOf,
  ...props
}: ListTableProps<Row>) {
  return (
    // No landmark: a tile of the same name may be around it. The keyboard must reach what scrolls.
    <Box
      ref={scroller}
      className={`table-scroll ${scrollClass}`.trim()}
      role="group"
      tabIndex={0}
      aria-label={label}
    >
      <Table className="stacked-table" verticalSpacing="sm" fz="sm" aria-label={label} {...props}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(([head, , className, by], index) => (
              <Table.Th
                // biome-ignore lint/suspicious/noArrayIndexKey: a column has no other name than its place.
                key={index}
                className={headClassOf(className)}
                aria-sort={order && by && directionOf(by.name, order.sort)}
              >
                {order && by ? <SortHead {...order} name={by.name} head={head} /> : head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row, place) => (
            <Fragment key={keyOf(row, place)}>
              <Table.Tr>
                {columns.map(([head, cell, className], index) => {
                  const isHead = className?.includes('row-head');
                  const Cell = isHead ? Table.Th : Table.Td;
                  return (
                    <Cell
                      // biome-ignore lint/suspicious/noArrayIndexKey: its place is its name.
                      key={index}
                      className={className}
                      scope={isHead ? 'row' : undefined}
                      data-label={index > 0 && typeof head === 'string' ? head : undefined}
                    >
                      {cell(row)}
                    </Cell>
                  );
                })}
              </Table.Tr>
              {detailsOf?.(row) && (
                <Table.Tr>
                  <Table.Td colSpan={columns.length}>{detailsOf(row)}</Table.Td>
                </Table.Tr>
              )}
            </Fragment>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}

interface SortHeadProps extends ListOrder {
  /** The name of the column in the order. */
  readonly name: string;
  readonly head: ReactNode;
  /** The meaning of the column. */
  readonly title?: string;
}

const SIGNS = { ascending: 'up', descending: 'down', none: 'none' } as const;

/** The head of a column: each press goes from no order to ascending, to descending, and back. */
export function SortHead({ name, head, title, sort, onSort }: SortHeadProps) {
  const direction = directionOf(name, sort);
  const next = { none: name, ascending: `-${name}`, descending: '' }[direction];
  return (
    <UnstyledButton className="sort-head" onClick={() => onSort(next)} title={title}>
      {head}
      <Icon name={SIGNS[direction]} size={13} />
    </UnstyledButton>
  );
}

/** The classes of a cell that the head of its column has too. */
function headClassOf(className = ''): string | undefined {
  return className.split(' ').find((one) => /^(?:numeric|no-print)$|-column$/.test(one));
}

function idOf<Row>(row: Row): string {
  const { id, name } = row as { readonly id?: string; readonly name?: string };
  return id ?? name ?? JSON.stringify(row);
}

/** The head of the column of buttons, which shows no text. */
export function ActionsHead() {
  return <VisuallyHidden>{t('Actions')}</VisuallyHidden>;
}

interface PlainListProps {
  /** Distinct texts; those that are `false` are left out. */
  readonly lines: readonly (string | false)[];
  readonly className?: string;
}

/** A list without bullets. */
export function PlainList({ lines, className }: PlainListProps) {
  return (
    <ul className="plain-list">
      {lines.map(
        (line) =>
          line !== false && (
            <li key={line} className={className}>
              {line}
            </li>
          ),
      )}
    </ul>
  );
}

interface MoreButtonProps {
  readonly more: MoreRows;
  readonly children: ReactNode;
}

/** Reads the next page of a list, if there is one. */
export function MoreButton({ more: { isThere, isLoading, load }, children }: MoreButtonProps) {
  if (!isThere) return null;
  return (
    <Group mt="sm">
      <TextButton label={children} loading={isLoading} onClick={load} />
    </Group>
  );
}

/** The names of codes as the choices of an input; `all` names the choice without a restriction. */
export function choicesOf(names: Readonly<Record<string, string>>, all?: string) {
  const choices = Object.entries(names).map(([value, name]) => ({ value, label: t(name) }));
  return all === undefined ? choices : [{ value: '', label: all }, ...choices];
}

interface ListPageProps<Data, Row> extends Pick<PageFrameProps, 'title' | 'description'> {
  readonly of: QueryAnswer<Data>;
  rowsOf(data: Data): readonly Row[];
  /** The page when there is nothing to list. */
  readonly empty: { readonly icon: IconName; readonly title: string; readonly about: string };
  /** Creates another thing, in a dialog. Absent if the viewer may not. */
  readonly create?:
    | {
        readonly label: string;
        readonly first: string;
        readonly dialog: (close: () => void) => ReactNode;
      }
    | undefined;
  readonly children: (rows: readonly Row[]) => ReactNode;
}

export function ListPage<Data, Row>(props: ListPageProps<Data, Row>) {
  const { title, description, of, rowsOf, empty, create, children } = props;
  return (
    <PageFrame
      {...{ title, description }}
      actions={create && <DialogButton {...create} isMain icon="plus" />}
    >
      <Answered of={of}>
        {(data) =>
          rowsOf(data).length > 0 ? (
            children(rowsOf(data))
          ) : (
            <EmptyState
              icon={empty.icon}
              title={empty.title}
              action={create && <DialogButton label={create.first} isMain dialog={create.dialog} />}
            >
              {empty.about}
            </EmptyState>
          )
        }
      </Answered>
    </PageFrame>
  );
}
