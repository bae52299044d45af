import type { GatewayProblem } from '../gateway/gateway-problem';

/** What the gateway says is wrong, by the field that its pointer names. */
export function errorsByField(problem: GatewayProblem | null): ReadonlyMap<string, string> {
  const errors = problem?.extensions?.errors;
  if (!Array.isArray(errors)) return new Map();
  return new Map(
    errors.map(({ pointer, detail }: { readonly pointer?: string; readonly detail?: string }) => {
      const [, ...steps] = (pointer ?? '').split('/');
      const name = steps.find((step) => step !== 'data') ?? '';
      return [name, detail ?? ''];
    }),
  );
}
