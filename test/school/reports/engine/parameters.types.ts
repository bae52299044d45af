/**
 * What a report is given by the list of its parameters, as the compiler sees it. Nothing here runs: `npm run
 * typecheck` fails where a type is another one.
 */
import {
  type Day,
  dayType,
  flagType,
  type Month,
  monthType,
  term,
} from '../../../../src/school/reports/engine/parameter-types.js';
import {
  defaulted,
  optional,
  type ParameterValues,
  required,
} from '../../../../src/school/reports/engine/parameters.js';

const parameters = {
  month: required(monthType, 'A month.'),
  term: optional(term, 'A term.'),
  asOn: defaulted(dayType, 'A day.', { default: 'today', value: ({ today }) => today }),
  withLeft: optional(flagType, 'A flag.'),
};

/** Each type takes the other: nothing is lost, and nothing is added. */
type IsSame<One, Other> = [One, Other] extends [Other, One] ? true : false;

export const whatTheReportGets: IsSame<
  ParameterValues<typeof parameters>,
  {
    readonly month: Month;
    readonly term: 'halfyear' | 'finalyear' | undefined;
    readonly asOn: Day;
    readonly withLeft: boolean | undefined;
  }
> = true;

export function valuesOf(values: ParameterValues<typeof parameters>): void {
  // @ts-expect-error A month is no day, though both are texts.
  values.asOn satisfies Month;
  // @ts-expect-error An optional one may be absent.
  values.term satisfies string;
  // @ts-expect-error There is no such parameter.
  values.session;
  // @ts-expect-error The values are not changed.
  values.month = '2026-04' as Month;
}

// @ts-expect-error A text from outside is no day before it is parsed.
export const day: Day = '2026-04-01';

// @ts-expect-error A default is a value of the parameter's type.
defaulted(dayType, 'A day.', { default: 'yes', value: () => true });
