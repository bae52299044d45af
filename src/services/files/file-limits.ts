export interface FileLimits {
  readonly maxBytes: number;
  /** The limit for all files of a domain together. */
  readonly quotaBytes: number;
  /** Roles that may upload files without a record. */
  readonly uploadRoles: readonly string[];
  /** How many resumable uploads a caller may have open. */
  readonly openUploads: number;
  /** An upload without a new piece for so many hours is deleted. */
  readonly uploadHours: number;
}
