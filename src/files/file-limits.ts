export interface FileLimits {
  readonly maxBytes: number;
  /** The limit for all files of a domain together. */
  readonly quotaBytes: number;
  /** Roles that may upload files that belong to no record. */
  readonly uploadRoles: readonly string[];
  /** How many uploads of one caller may be sent piece by piece at the same time. */
  readonly openUploads: number;
  /** After so many hours without a further piece, such an upload is taken away. */
  readonly uploadHours: number;
}
