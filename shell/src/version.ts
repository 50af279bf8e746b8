/** The release. Badges came with 0.5. */
export const VERSION = '0.5.0';
