/**
 * An editor for JavaScript and JSON, which can also show the differences of two texts. It is loaded on
 * demand.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript, javascriptLanguage } from '@codemirror/lang-javascript';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState, type Extension, Transaction } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { nonceOfPage } from '../theme';

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly language: 'javascript' | 'typescript' | 'json';
  /** The text with which the value is compared. */
  readonly original?: string;
  /** Absent if the text is read-only. */
  onChange?(value: string): void;
}

const DARK_COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#c4a7f5' },
  { tag: [tags.string, tags.regexp], color: '#9cd6a5' },
  { tag: [tags.number, tags.bool, tags.null], color: '#f2b880' },
  { tag: tags.comment, color: '#a0a8b5', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: '#8ab4f8' },
]);

const LIGHT_COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: '#6b2fb3' },
  { tag: [tags.string, tags.regexp], color: '#1f6a2f' },
  { tag: [tags.number, tags.bool, tags.null], color: '#8a4500' },
  { tag: tags.comment, color: '#5d6675', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: '#194e9c' },
]);

function coloursOf(scheme: 'light' | 'dark'): Extension {
  const isDark = scheme === 'dark';
  return [EditorView.theme({}, { dark: isDark }), syntaxHighlighting(isDark ? DARK_COLOURS : LIGHT_COLOURS)];
}

/** JSON is parsed as a JavaScript expression, whose grammar is loaded already. */
function grammarOf(language: CodeEditorProps['language']): Extension {
  if (language === 'json') return javascriptLanguage.configure({ top: 'SingleExpression' }, 'json');
  return javascript({ typescript: language === 'typescript' });
}

export function CodeEditor({ label, value, language, original, onChange }: CodeEditorProps) {
  const scheme = useComputedColorScheme('light');
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const colours = useRef(new Compartment());
  const listener = useRef(onChange);
  listener.current = onChange;
  const isReadOnly = onChange === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: value and colours are given to the editor below.
  useEffect(() => {
    if (!place.current) return undefined;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          ...(isReadOnly ? [] : [highlightActiveLine(), highlightActiveLineGutter()]),
          grammarOf(language),
          // Tab indents; Escape and then Tab leaves the editor, as its label explains.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          colours.current.of(coloursOf(scheme)),
          EditorView.lineWrapping,
          EditorView.cspNonce.of(nonceOfPage()),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.updateListener.of((update) => {
            const isGiven = update.transactions.some((one) => one.annotation(Transaction.remote) === true);
            if (update.docChanged && !isGiven) listener.current?.(update.state.doc.toString());
          }),
          ...(original === undefined
            ? []
            : [unifiedMergeView({ original, mergeControls: false, syntaxHighlightDeletions: false })]),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, language, original, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      // The change comes from the page and was not typed, so it must not become a draft.
      annotations: Transaction.remote.of(true),
    });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: colours.current.reconfigure(coloursOf(scheme)) });
  }, [scheme]);
  return <div ref={place} className="code-editor" />;
}
