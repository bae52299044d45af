/** A failed request, with the message of the gateway and the id of the request in its log. */
export class GatewayProblem extends Error {
  readonly kind: 'refused' | 'unreachable' | 'sessionEnded';
  readonly code: string;
  readonly requestId: string | undefined;
  /** The details beside the message: fields, positions, allowed values, seconds to wait. */
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    known: {
      readonly kind: GatewayProblem['kind'];
      readonly code: string;
      readonly requestId?: string | undefined;
      readonly extensions?: Readonly<Record<string, unknown>>;
    },
  ) {
    super(message);
    this.name = 'GatewayProblem';
    this.kind = known.kind;
    this.code = known.code;
    this.requestId = known.requestId;
    this.extensions = known.extensions ?? {};
  }
}

export function toError(fault: unknown): Error {
  return fault instanceof Error ? fault : new Error(String(fault));
}

/** The code of a failed request; `undefined` for another fault, and for none. */
export function codeOf(fault: unknown): string | undefined {
  return fault instanceof GatewayProblem ? fault.code : undefined;
}

/** The refusal that an answer describes (RFC 9457); its status for any other answer. */
export function toProblem({ status, headers }: Response, read: unknown): GatewayProblem {
  const { detail, title, type, ...extensions } = (read ?? {}) as Readonly<Record<string, unknown>>;
  const words = [detail, title].find((text) => typeof text === 'string');
  return new GatewayProblem(String(words ?? `The gateway answered ${status}.`), {
    kind: 'refused',
    code: /^urn:campus:error:(\w+)$/.exec(String(type))?.[1] ?? String(status),
    requestId: headers.get('x-request-id') ?? undefined,
    extensions: { waitSeconds: Number(headers.get('retry-after')) || undefined, ...extensions },
  });
}
