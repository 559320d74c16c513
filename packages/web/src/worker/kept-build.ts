/** The files of a build, kept by the browser so that the app opens without a connection. */
export interface Build {
  /** A name of its own for each build. */
  readonly id: string
  /** The addresses of its files. */
  readonly assets: readonly string[]
}

const prefix = 'kith-build-'
/** The one document of all paths of the app. */
const documentPath = '/home'

/** Keeps the document and the files of a build. */
export async function keepBuild({ id, assets }: Build): Promise<void> {
  const cache = await caches.open(prefix + id)
  await cache.addAll([documentPath, ...assets])
}

/** Removes the builds before this one. */
export async function dropFormerBuilds({ id }: Build): Promise<void> {
  const names = await caches.keys()
  const former = names.filter((name) => name.startsWith(prefix) && name !== prefix + id)
  await Promise.all(former.map((name) => caches.delete(name)))
}

/** The document as the server has it now; the kept one where the server cannot be reached. */
export async function answerNavigation(request: Request): Promise<Response> {
  const kept = () => caches.match(documentPath)
  try {
    const answer = await fetch(request)
    // What stands before the server says that it cannot be reached.
    return [502, 503, 504].includes(answer.status) ? ((await kept()) ?? answer) : answer
  } catch (error) {
    const document = await kept()
    if (!document) throw error
    return document
  }
}

/** A file of a build: it never changes under its name. */
export async function answerAsset(request: Request): Promise<Response> {
  return (await caches.match(request, { ignoreVary: true })) ?? (await fetch(request))
}
