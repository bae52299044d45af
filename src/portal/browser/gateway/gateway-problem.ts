/** Why a request came to nothing, in the words of the gateway, with what its log knows it by. */
export class GatewayProblem extends Error {
  readonly kind: 'refused' | 'unreachable' | 'sessionEnded';
  readonly code: string;
  readonly requestId: string | undefined;
  /** What the gateway tells of it beside the words: fields, positions, what is allowed. */
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
