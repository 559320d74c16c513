/** How long what is waited for may take before it counts as hanging, in milliseconds: a poll, a step in a browser, the answer
 * of a process. It does not judge speed; the bench does. */
export const pollMs = 30_000
/** How long a test or a hook may take. */
export const testMs = 180_000
