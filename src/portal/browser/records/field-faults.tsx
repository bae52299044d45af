/** The faults that the gateway found in the fields of a record, shown at each field. */
import type { ReactNode } from 'react';
import type { GatewayProblem } from '../gateway/gateway-problem';
import { ProblemWords } from '../language/problem-words';
import { useTexts } from '../language/use-texts';
import { useFieldNames } from './use-declared-collection';

export interface FieldFault {
  /** The path from the field to the invalid part: `['0', 'amount']` in a list of objects. */
  readonly within: readonly string[];
  /** The message of the gateway without its leading pointer. */
  readonly detail: string;
  readonly expected: string | undefined;
  readonly kind: 'missing' | 'taken' | 'takenTogether' | 'other';
}

/** The faults of an error by the field that their pointers name. Faults without a field are at ''. */
export function faultsByField(problem: GatewayProblem | null): ReadonlyMap<string, readonly FieldFault[]> {
  const errors = problem?.extensions.errors;
  if (!Array.isArray(errors)) return new Map();
  return Map.groupBy(
    errors.map((error: SentFault) => toFault(problem?.code, error)),
    ({ field }) => field,
  );
}

interface SentFault {
  readonly pointer?: string;
  readonly detail?: string;
  readonly expected?: string | undefined;
  readonly sent?: unknown;
}

function toFault(
  code: string | undefined,
  { pointer = '', detail = '', expected, sent }: SentFault,
): FieldFault & { readonly field: string } {
  const [, ...steps] = pointer.split('/');
  const [field = '', ...within] = steps[0] === 'data' ? steps.slice(1) : steps;
  const start = `${pointer}: `;
  return {
    field,
    within,
    detail: detail.startsWith(start) ? detail.slice(start.length) : detail,
    expected,
    kind: kindOf(code, { expected, sent }),
  };
}

function kindOf(code: string | undefined, { expected, sent }: SentFault): FieldFault['kind'] {
  if (expected === undefined) return 'other';
  if (code === 'INVALID_VALUE') return (sent ?? null) === null ? 'missing' : 'other';
  if (code !== 'CONFLICT') return 'other';
  return sent === undefined && expected.startsWith(ONE_FOR_EACH) ? 'takenTogether' : 'taken';
}

const ONE_FOR_EACH = 'one record for each ';
/** A field may have one fault for each entry of its list. */
const MOST_TOLD = 3;

export function FieldFaults({ faults }: { readonly faults: readonly FieldFault[] }): ReactNode {
  const nameOf = useFieldNames();
  return faults.slice(0, MOST_TOLD).map((fault) => {
    const place = fault.within.map((step) => (/^\d+$/.test(step) ? `${Number(step) + 1}` : nameOf(step)));
    return (
      <span key={`${place} ${fault.detail}`} className="field-fault">
        {place.length > 0 && `${place.join(' · ')}: `}
        <FaultInWords fault={fault} />
      </span>
    );
  });
}

function FaultInWords({ fault: { kind, detail, expected = '' } }: { readonly fault: FieldFault }): ReactNode {
  const t = useTexts();
  const nameOf = useFieldNames();
  if (kind === 'missing') return t('This field is required.');
  if (kind === 'taken') return t('Another record already has this value.');
  if (kind === 'takenTogether') {
    const fields = expected.slice(ONE_FOR_EACH.length).split(' and ');
    return t('Another record has the same {fields}.', {
      fields: fields.map((field) => nameOf(field.replace(/ \(.*/, ''))).join(' + '),
    });
  }
  return <ProblemWords text={detail} />;
}
