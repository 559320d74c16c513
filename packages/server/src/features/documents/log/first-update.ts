/** What every document begins with: the root map `meta` with `i: true`, by client 1802073192. The same bytes always, so that
 * it is the same change however often it is made. */
export const firstUpdate: Uint8Array = Uint8Array.of(
  ...[1, 1, 232, 232, 165, 219, 6, 0, 40, 1, 4, 109, 101, 116, 97, 1, 105, 1, 120, 0],
)
