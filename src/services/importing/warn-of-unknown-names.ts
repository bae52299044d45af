/** Warnings about names in a table that no record has, such as classes and fee heads. */
import type { Collection } from '../../base/model/collection.js';
import { toNormalText } from '../../base/model/normal-text.js';
import { type Sought } from '../../store/writing/select-unlinked.js';
import { keyOfSought, type LinkVerdicts } from '../../store/writing/settle-links.js';
import type { ImportMapping } from './import-mapping.js';
import type { ColumnInspection } from './reading/column-findings.js';

const MOST_SHOWN = 3;

interface NamesOfColumn {
  readonly column: string;
  readonly values: readonly string[];
  readonly soughtOf: (value: string) => Sought;
}

/** The warnings, in the order of the columns. A name is looked for by itself, without those beside it. */
export async function warnOfUnknownNames(
  collection: Collection,
  { mapping, found }: { readonly mapping: ImportMapping; readonly found: readonly ColumnInspection[] },
  judge: (sought: readonly Sought[]) => Promise<LinkVerdicts>,
): Promise<readonly string[]> {
  const columns = found.flatMap(({ column, values = [] }): NamesOfColumn[] => {
    const field = mapping.columns.find((one) => one.column === column)?.field;
    return collection.links.flatMap(({ in: outer, reference, members }, link) => {
      const member = members.findIndex((one) => one.field === field);
      if (member < 0 || outer.length > 0 || reference !== undefined) return [];
      const none = members.map((): string | null => null);
      const soughtOf = (value: string): Sought => {
        return { link, id: null, on: null, texts: none.with(member, toNormalText(value)) };
      };
      return [{ column, values: values.filter((value) => toNormalText(value) !== ''), soughtOf }];
    });
  });
  if (columns.length === 0) return [];
  const verdicts = await judge(columns.flatMap(({ values, soughtOf }) => values.map(soughtOf)));
  return columns.flatMap(({ column, values, soughtOf }) => {
    const named = JSON.stringify(column);
    const unknown: string[] = [];
    const respelled: string[] = [];
    for (const value of values) {
      const sought = soughtOf(value);
      const { problem, spelled } = verdicts.get(keyOfSought(sought)) ?? {};
      const stored = [...(spelled ?? sought.texts)].find((text) => text !== null);
      if (problem !== undefined) unknown.push(problem);
      else if (stored !== value) respelled.push(`${JSON.stringify(value)} as ${JSON.stringify(stored)}`);
    }
    return [
      ...(unknown.length === 0
        ? []
        : [`${named}: ${unknown.slice(0, MOST_SHOWN).join(' ')}${andMore(unknown)} Their rows are refused.`]),
      ...(respelled.length === 0
        ? []
        : [
            `${named}: names are stored in their own spelling: ${respelled.slice(0, MOST_SHOWN).join(', ')}.`,
          ]),
    ];
  });
}

function andMore({ length }: readonly string[]): string {
  return length <= MOST_SHOWN ? '' : ` ${length - MOST_SHOWN} more values name nothing.`;
}
