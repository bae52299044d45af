import { type FragmentDefinitionNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
import type { ReadyOperation } from './operation-request.js';

/** The root fields of an operation, including those in fragments. Validation has excluded cycles. */
export function rootFieldNames({
  document,
  operation,
}: Pick<ReadyOperation, 'document' | 'operation'>): readonly string[] {
  return namesInSet(operation.selectionSet, document);
}

function namesInSet(selectionSet: SelectionSetNode, document: ReadyOperation['document']): readonly string[] {
  return selectionSet.selections.flatMap((selection) => namesIn(selection, document));
}

function namesIn(selection: SelectionNode, document: ReadyOperation['document']): readonly string[] {
  switch (selection.kind) {
    case Kind.FIELD:
      return [selection.name.value];
    case Kind.INLINE_FRAGMENT:
      return namesInSet(selection.selectionSet, document);
    case Kind.FRAGMENT_SPREAD: {
      const fragment = document.definitions.find(
        (one): one is FragmentDefinitionNode =>
          one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
      );
      return fragment ? namesInSet(fragment.selectionSet, document) : [];
    }
  }
}
