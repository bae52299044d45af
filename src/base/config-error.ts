/** A setting that cannot be used: says which variable, what it holds and what it should. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
