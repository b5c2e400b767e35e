/** The sandbox at `/v1`; `/~default/v1` is the same one. */
export const DEFAULT_SANDBOX = 'default';

/** The document's second deployment, at `/~staging/v1`. */
export const STAGING_SANDBOX = 'staging';

/** They always exist, in this order. */
export const PERMANENT: readonly string[] = [DEFAULT_SANDBOX, STAGING_SANDBOX];
