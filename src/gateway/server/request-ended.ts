/** The log entry of a request that was answered or aborted. */
export interface RequestEnded {
  readonly kind: 'requestEnded';
  readonly requestId: string;
  readonly method: string;
  /** The address as it was asked for; redacted before it is written. */
  readonly url: string;
  /** The template of the route, e.g. `/o/recs/:collection`: few values, so that it can be a label. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
  /** `domain/user`; `undefined`: no credential. */
  readonly principal: string | undefined;
  /** `key:<id>` of an API key, `token:<session>`; `undefined`: none. */
  readonly credential: string | undefined;
  /** The name of the GraphQL operation, else the template of the route. */
  readonly operation: string | undefined;
  /** The cost of the GraphQL operation. */
  readonly cost: number | undefined;
  /** The code of the answer's error. */
  readonly errorCode: string | undefined;
  /** False: the caller went away, or the answer was cut. */
  readonly isComplete: boolean;
}
