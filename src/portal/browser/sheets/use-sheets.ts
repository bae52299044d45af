import { i18n } from '@lingui/core';
import { useViewer } from '../gateway/use-gateway';
import type { SheetDeclaration } from './sheet-columns';

/** The sheets that the viewer may fill in. */
export function useSheets(): readonly SheetDeclaration[] {
  return useViewer().sheets as readonly SheetDeclaration[];
}

/** The title and the description of a sheet in the language of the page. */
export function titleOfSheet({ title, description, translations = {} }: SheetDeclaration): {
  readonly title: string;
  readonly description?: string;
} {
  return { title, ...(description !== undefined && { description }), ...translations[i18n.locale] };
}
