import { useLingui } from '@lingui/react';
import { useViewer } from '../gateway/use-gateway';
import type { SheetDeclaration } from './sheet-columns';

/** The sheets that the viewer may fill in. */
export function useSheets(): readonly SheetDeclaration[] {
  return useViewer().sheets as readonly SheetDeclaration[];
}

/** Returns the title and the description of a sheet in the language of the page. */
export function useSheetTitle(): (sheet: SheetDeclaration) => {
  readonly title: string;
  readonly description?: string;
} {
  const { locale } = useLingui().i18n;
  return ({ title, description, translations = {} }) => ({
    title,
    ...(description !== undefined && { description }),
    ...translations[locale],
  });
}
