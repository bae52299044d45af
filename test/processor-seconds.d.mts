export const PROCESSOR_LOG_VARIABLE: string;
export function ownSeconds(): number;
export function endedChildrenSeconds(): number;
export function serverSeconds(processId: number): number;
export function logSeconds(
  line: { readonly file: string; readonly seconds: number } | { readonly server: number },
): void;
export function printSeconds(log: string, nodeSeconds: number): void;
