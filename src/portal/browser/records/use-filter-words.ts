import { type Formats, useFormats } from '../language/use-formats';
import { type Texts, useTexts } from '../language/use-texts';
import type { DeclaredField } from './declared-field';
import { type FilterCondition, needsValue, parseConditions } from './filter-conditions';
import { type FilterField, filterFieldsOf, nameOfOperator } from './filter-fields';
import { splitWhere } from './split-where';
import { useAllowedWords } from './use-allowed-words';
import { useFieldNames } from './use-declared-collection';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MONTH = /^\d{4}-\d{2}$/;

/**
 * Returns a function that prints a filter for people: `class=5,name=*an` is "Class is 5 · Name contains an".
 * A malformed filter, and one that no row can express, is returned unchanged.
 */
export function useFilterWords(fields: readonly DeclaredField[]): (oquery: string, where: string) => string {
  const t = useTexts();
  const formats = useFormats();
  const nameOf = useFieldNames();
  const wordsOf = useAllowedWords();
  const choices = fields.flatMap((field) => filterFieldsOf(field, nameOf));
  const say = (condition: FilterCondition) => {
    const field = choices.find(({ path }) => path === condition.field);
    const said = {
      field: field?.label ?? condition.field,
      operator: t(nameOfOperator(condition.operator, field)),
      value: sayValue(condition, field, { t, formats, wordsOf }),
    };
    return t('{field} {operator} {value}', said).trim();
  };
  return (oquery, where) => {
    const { conditions, rest } = splitWhere(where, choices);
    const written = parseConditions(oquery);
    const said = [...(written?.map(say) ?? [oquery]), ...conditions.map(say)].join(' · ');
    return [said, rest].filter((part) => part !== '').join(' + ');
  };
}

interface Words {
  readonly t: Texts;
  readonly formats: Formats;
  wordsOf(value: string): string;
}

function sayValue(
  { operator, value }: FilterCondition,
  field: FilterField | undefined,
  { t, formats, wordsOf }: Words,
): string {
  if (!needsValue(operator)) return '';
  if (operator === '=#in' && MONTH.test(value)) return formats.month(value);
  if (field?.type === 'datetime' && DAY.test(value)) return formats.day(value);
  if (field?.type === 'boolean') return value === 'true' ? t('yes') : t('no');
  const isWhole = operator === '=' || operator === 'notEquals';
  return isWhole && field?.allowed?.includes(value) ? wordsOf(value) : value;
}
