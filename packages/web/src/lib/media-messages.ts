/** At the end of the address of media for which the worker is to send the bearer. Servers never see this part of an address,
 * and pages that are not the app's do not write it. */
export const bearerMark = '#with-bearer'

/** What a page tells the worker about media. `opened`: somebody is signed in; `forget`: nobody is any more; `download`: the next
 * navigation to this address is the page's own, answered through the port that comes with it. */
export type MediaNews =
  | { readonly kind: 'opened' | 'forget' }
  | { readonly kind: 'download'; readonly address: string }

/** What the worker tells a page. `bearer`: it wants one, answered with it or with nothing through the port that comes with it. */
export interface MediaWish {
  readonly kind: 'bearer' | 'download-failed'
}

/** Whether bytes of files and profiles are read at a path. */
export function isMediaPath(path: string): boolean {
  return /^\/api\/(files\/(zip|[^/]+|variant\/[^/]+|[^/]+\/zip)|profiles\/[^/]+\/(image|cover))$/.test(path)
}
