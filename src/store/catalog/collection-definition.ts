/** The type of a declaration; schema/collections/collection.schema.json explains each key. */

import { ServiceError } from '../../base/errors.js';
import type { Bounds } from '../../base/model/bounds.js';
import type { Collection } from '../../base/model/collection.js';
import type { FieldFormat, FieldType } from '../../base/model/field-types/scalar-types.js';
import type { RecordVerb } from '../../base/model/scope.js';

/** A declaration as it is written. Lists keep their order, so `fields` is a list and not an object. */
export interface CollectionDefinition {
  readonly $schema?: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly singular?: string;
  readonly plural?: string;
  readonly labelField?: string;
  readonly fields?: readonly FieldDefinition[];
  readonly indexes?: readonly (readonly string[])[];
  readonly uniqueTogether?: readonly {
    readonly name: string;
    readonly parts: readonly {
      readonly path: string;
      readonly by?: 'value' | 'day';
      readonly ignoreCase?: boolean;
    }[];
    readonly unless?: readonly { readonly field: string; readonly is?: readonly string[] }[];
  }[];
  readonly checks?: readonly CheckDefinition[];
  readonly bookedOn?: string;
  readonly grants?: readonly {
    readonly attribute: string;
    readonly list: string;
    readonly caller: string;
    readonly key: readonly string[];
  }[];
  readonly stays?: {
    readonly list: string;
    readonly from: string;
    readonly to: string;
    readonly reset?: readonly string[];
    readonly session?: string;
  };
  readonly personal?: PersonalDefinition;
  readonly access?: Readonly<Record<string, RoleAccessDefinition>>;
}

export interface PersonalDefinition {
  readonly person?: boolean;
  readonly about?: readonly string[];
  readonly identifiers?: readonly string[];
  readonly fields?: readonly string[];
  readonly keep?: string;
}

export type CheckDefinition =
  | { readonly kind: 'sum'; readonly total: string; readonly of: readonly string[] }
  | { readonly kind: 'inSession'; readonly session: string; readonly of: readonly string[] }
  | { readonly kind: 'order'; readonly in?: string; readonly lower: string; readonly upper: string }
  | { readonly kind: 'distinct'; readonly in: string; readonly field: string }
  | {
      readonly kind: 'when';
      readonly in?: string;
      readonly field: string;
      readonly is: readonly (string | boolean)[];
      readonly holds: Bounds & {
        readonly field: string;
        readonly required?: boolean;
        readonly absent?: boolean;
        readonly target?: string;
      };
    };

export interface FieldDefinition extends Bounds {
  readonly name: string;
  readonly type: FieldType;
  readonly description?: string;
  readonly list?: boolean;
  readonly required?: boolean;
  readonly unique?: boolean | { readonly ignoreCase: boolean };
  readonly index?: boolean;
  readonly searchable?: boolean;
  readonly right?: boolean;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly decimal?: boolean;
  readonly format?: FieldFormat;
  readonly target?: string | readonly string[];
  readonly mustExist?: boolean;
  readonly onDelete?: 'refuse' | 'keep';
  readonly names?: string;
  readonly namedWith?: string;
  readonly agreesWith?: string;
  readonly agreesOn?: string;
  readonly fields?: readonly FieldDefinition[];
  readonly example?: unknown;
  readonly unit?: string;
  readonly deprecated?: string;
}

export interface RoleAccessDefinition {
  readonly verbs: readonly RecordVerb[];
  readonly hiddenFields?: readonly string[];
  readonly readOnlyFields?: readonly string[];
  readonly rows?: RowRuleDefinition;
  readonly alsoReads?: readonly RowRuleDefinition[];
}

export interface RowRuleDefinition {
  readonly fields: readonly string[];
  readonly attribute: string;
}

/** Whether the field is unique by `foldText` of its values. */
export function ignoresCase({ unique = false }: FieldDefinition): boolean {
  return typeof unique === 'object' && unique.ignoreCase;
}

/** The GraphQL names for one record and for many; missing ones are derived from the name. */
export function graphqlNamesOf({
  name,
  singular = toCamelCase(name),
  plural = `${singular}s`,
}: CollectionDefinition): Pick<Collection, 'singular' | 'plural'> {
  return { singular, plural };
}

function toCamelCase(name: string): string {
  return name.replace(/_+([a-z0-9])?/g, (_match, letter: string | undefined) => letter?.toUpperCase() ?? '');
}

/**
 * Checks that a definition shares no GraphQL name with the other ones.
 *
 * @throws CONFLICT naming the other collection
 */
export function assertOwnGraphqlNames(
  definition: CollectionDefinition,
  all: readonly CollectionDefinition[],
): void {
  const own = Object.values(graphqlNamesOf(definition));
  for (const other of all) {
    if (other.name === definition.name) continue;
    const taken = Object.values(graphqlNamesOf(other)).find((name) => own.includes(name));
    if (taken === undefined) continue;
    throw new ServiceError(
      'CONFLICT',
      `${definition.name}: the GraphQL name "${taken}" is that of the collection ${other.name}; ` +
        'choose another singular or plural',
    );
  }
}
