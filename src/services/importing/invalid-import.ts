import { ServiceError } from '../../base/errors.js';

/** The fault of a parameter of an import: what is wrong with it, and what would be right. */
export function invalidImport(
  parameter: string,
  detail: string,
  expected: string,
  sent?: string,
): ServiceError {
  return new ServiceError('INVALID_VALUE', `${parameter}: ${detail}; expected: ${expected}`, {
    errors: [{ parameter, detail, expected, ...(sent !== undefined && { sent: sent.slice(0, 100) }) }],
  });
}

/** An import that does not exist, or that its caller may not see. */
export function noImport(id: string): ServiceError {
  return new ServiceError('NOT_FOUND', `there is no import "${id.slice(0, 50)}"`);
}
