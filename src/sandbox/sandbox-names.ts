/** The sandbox at `/v1`; `/~default/v1` is the same one. */
export const DEFAULT_SANDBOX = 'default';

/** The document's second deployment, at `/~staging/v1`. */
export const STAGING_SANDBOX = 'staging';

/** They always exist, in this order. */
export const PERMANENT: readonly string[] = [DEFAULT_SANDBOX, STAGING_SANDBOX];

/** `.` and `..` are no names: clients resolve them away in a path. */
export const SANDBOX_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** The form of a sandbox name, in words. */
export const SANDBOX_NAME_FORM = '1 to 64 of a-z A-Z 0-9 . _ -';
