/** A server under measure, and how it is asked. */
import type { Dialect } from '../questions.js';

export interface Target {
  /** How it is named on the command line and in tables. */
  readonly name: string;
  readonly url: string;
  /** Its process, or the first of them. */
  readonly pid: number;
  readonly dialect: Dialect;
  /** Those that share a process end with the first of them; later calls do nothing. */
  stop(): Promise<void>;
}

export interface TargetOptions {
  readonly databaseUrl: string;
  /** API keys of the gateway, for its requests in turn. */
  readonly keys: readonly string[];
  /** For logs and the like; it goes with the run. */
  readonly directory: string;
  readonly poolSize: number;
  /** Processes of the gateway. */
  readonly workers: number;
}
