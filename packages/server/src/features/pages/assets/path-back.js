// Where a person goes on after signing in.

const pages = ['/account', '/approve', '/apps', '/apps/*', '/communities/new']
// They are the app's in browsers that stay signed in.
const shared = ['/', '/posts/*']

/** The address of a page of this origin for people who are signed in; undefined for every other. The paths are those of the
 * app, as the router writes them; undefined where it is not built. */
export function pathBack(given, origin, appPaths) {
  if (given === null || !URL.canParse(given, origin)) return undefined
  const url = new URL(given, origin)
  const known = appPaths === undefined ? pages : [...pages, ...shared, ...appPaths]
  return url.origin === origin && known.some((path) => fits(path, url.pathname))
    ? url.origin + url.pathname + url.search + (/^#join=[0-9A-Za-z]{24}$/.test(url.hash) ? url.hash : '')
    : undefined
}

function fits(path, pathname) {
  const wanted = path.split('/')
  const parts = pathname.split('/')
  const isOpen = wanted.at(-1) === '*'
  if (isOpen ? parts.length < wanted.length : parts.length !== wanted.length) return false
  return wanted.every(
    (part, at) => part === '*' || (part.startsWith('{') ? parts[at] !== '' : part === parts[at]),
  )
}
