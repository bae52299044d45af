/** The records that prevent the removal of a record, as the refusal counts them. */
import { Anchor, Stack } from '@mantine/core';
import { useTitleOf, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { codeOf, type GatewayProblem } from '../session/gateway-problem';
import { escapeValue } from './filter-conditions';
import { sayFieldName } from './use-declared-collection';

export interface RecordUse {
  readonly count: number;
  /** Whether counting stopped before the end. */
  readonly isMore: boolean;
  readonly collection: string;
  /** The path that points to it, e.g. `student`. */
  readonly field: string;
}

const USE = /^(\d+)( or more)? records? of (\S+) points? to it \((.+)\)$/;

/** The uses that a refusal names; `undefined` if the removal was not refused because of them. */
export function usesIn(problem: Error | null): readonly RecordUse[] | undefined {
  if (codeOf(problem) !== 'CONFLICT') return undefined;
  const { errors } = (problem as GatewayProblem).extensions;
  if (!Array.isArray(errors)) return undefined;
  const found = errors.flatMap(({ detail = '' }: { readonly detail?: string }) => {
    const [, count, more, collection = '', field = ''] = USE.exec(detail) ?? [];
    return count ? [{ count: Number(count), isMore: more !== undefined, collection, field }] : [];
  });
  const hasOthers = errors.some(({ detail = '' }) =>
    /^(?:and )?other records(?: point to it)?$/.test(detail),
  );
  return found.length > 0 || hasOthers ? found : undefined;
}

export interface RecordUsesProps {
  readonly uses: readonly RecordUse[];
  /** The id, if a single record was refused: its uses can be opened. */
  readonly id?: string;
}

export function RecordUses({ uses, id }: RecordUsesProps) {
  const titleOf = useTitleOf();
  return (
    <Stack gap="xs" role="alert">
      {t('It is still in use. If you remove it, these references lead to nothing:')}
      <ul>
        {uses.map(({ count, isMore, collection, field }) => {
          const number = `${formats.number(count)}${isMore ? '+' : ''}`;
          const words = t('{title}: {number} ({field})', {
            ...{ title: titleOf(collection), number, field: sayFieldName(field) },
          });
          const oquery = `${field}.value=${escapeValue(id ?? '')}`;
          return (
            <li key={`${collection} ${field}`}>
              {id === undefined ? (
                words
              ) : (
                <Anchor
                  href={`/portal/records/${collection}?oquery=${encodeURIComponent(oquery)}`}
                  target="_blank"
                >
                  {words}
                </Anchor>
              )}
            </li>
          );
        })}
        {uses.length === 0 && <li>{t('records that you may not see')}</li>}
      </ul>
    </Stack>
  );
}

/** Whether the viewer may remove a record although others point to it. Admins manage users. */
export function useMayForce(): boolean {
  return useViewer().duties.includes('users');
}
