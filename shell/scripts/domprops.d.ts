declare module '*/terser/tools/domprops.js' {
  /** Names of properties that browsers have. */
  export const domprops: readonly string[];
}
