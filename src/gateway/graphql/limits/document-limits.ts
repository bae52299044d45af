/**
 * Limits on documents, whatever the caller and the variables: checked once, at validation, and cached with
 * the parsed document. @see decisions 9
 */
import {
  type ASTVisitor,
  GraphQLError,
  Kind,
  MaxIntrospectionDepthRule,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';
import type { Config } from '../../config/config.js';
import { isIntrospectionField } from './introspection-cost.js';

type DocumentLimits = Pick<Config, 'graphqlMaxDepth' | 'graphqlMaxRootFields' | 'graphqlMaxDirectives'>;

/**
 * Introspection queries types of types. Its depth has a limit of its own, and so has its nesting
 * (`MaxIntrospectionDepthRule`).
 */
const MAX_INTROSPECTION_DEPTH = 20;

/** The validation rules in addition to those of the specification, for HTTP and WebSocket. */
export function createDocumentLimitRules(limits: DocumentLimits): ValidationRule[] {
  return [MaxIntrospectionDepthRule, (context) => documentLimits(context, limits)];
}

/** Each error has the limit and the count of the document. */
function documentLimits(context: ValidationContext, limits: DocumentLimits): ASTVisitor {
  return {
    Document(document) {
      let aliases = 0;
      let directives = 0;
      visit(document, {
        Field({ alias }) {
          if (alias) aliases += 1;
        },
        Directive() {
          directives += 1;
        },
      });
      const measure = createMeasure((name) => context.getFragment(name)?.selectionSet);
      const measured = document.definitions.flatMap((definition) =>
        definition.kind === Kind.OPERATION_DEFINITION ? [measure(definition.selectionSet)] : [],
      );
      const highest = (which: keyof Measured) => Math.max(0, ...measured.map((one) => one[which]));
      const rootFields = measured.reduce((sum, { fields }) => sum + fields, 0);
      atMost(context, aliases, limits.graphqlMaxRootFields, 'aliases');
      atMost(context, directives, limits.graphqlMaxDirectives, 'directives');
      atMost(context, rootFields, limits.graphqlMaxRootFields, 'root fields');
      atMost(context, highest('depth'), limits.graphqlMaxDepth, 'levels of nesting');
      atMost(context, highest('introspectionDepth'), MAX_INTROSPECTION_DEPTH, 'levels of introspection');
      return false;
    },
  };
}

function atMost(context: ValidationContext, count: number, max: number, what: string): void {
  if (count <= max) return;
  const message = `The document has ${count} ${what}; at most ${max} are allowed.`;
  context.reportError(new GraphQLError(message, { extensions: { code: 'LIMIT_EXCEEDED' } }));
}

interface Measured {
  /** The fields of the selection itself. */
  readonly fields: number;
  readonly depth: number;
  readonly introspectionDepth: number;
}

const NOTHING: Measured = { fields: 0, depth: 0, introspectionDepth: 0 };

/**
 * Measures selections with fragments expanded. Each fragment is measured once, so that nested fragments cost
 * no more than the length of the document.
 */
function createMeasure(findFragment: (name: string) => SelectionSetNode | undefined) {
  const fragments = new Map<string, Measured>();

  function measure(selectionSet: SelectionSetNode): Measured {
    const all = selectionSet.selections.map(measureOne);
    return {
      fields: all.reduce((sum, { fields }) => sum + fields, 0),
      depth: Math.max(...all.map(({ depth }) => depth)),
      introspectionDepth: Math.max(...all.map((one) => one.introspectionDepth)),
    };
  }

  function measureOne(selection: SelectionNode): Measured {
    if (selection.kind === Kind.INLINE_FRAGMENT) return measure(selection.selectionSet);
    const name = selection.name.value;
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      const known = fragments.get(name);
      const found = findFragment(name);
      if (known || !found) return known ?? NOTHING;
      // Another rule refuses a fragment within itself.
      fragments.set(name, NOTHING);
      const measured = measure(found);
      fragments.set(name, measured);
      return measured;
    }
    const { depth, introspectionDepth } = selection.selectionSet ? measure(selection.selectionSet) : NOTHING;
    return isIntrospectionField(name)
      ? { fields: 1, depth: 1, introspectionDepth: Math.max(depth, introspectionDepth) + 1 }
      : { fields: 1, depth: depth + 1, introspectionDepth };
  }

  return measure;
}
