import { i18n } from '@lingui/core';
import type { SheetDeclaration } from '../../../school/sheets/sheet-definition.js';
import { useViewer } from '../gateway/use-gateway';

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
