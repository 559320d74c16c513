import { createStore } from '#lib/store.ts'

// Bound: paths that are asked for and are no endpoint of the server.
const keptAtMost = 100

/** The paths below `/api` that the server does not know: it is older than the app, or has that part switched off. */
export const missingPaths = createStore<ReadonlySet<string>>(new Set())

/** Takes note of an answer, of which nothing is read that its asker reads. */
export async function noteAnswer(url: string, answer: Response): Promise<void> {
  if (answer.status !== 404 || missingPaths.get().size >= keptAtMost) return
  // What is absent at an endpoint has a code of its own, or a path that no screen needs.
  const body = (await answer
    .clone()
    .json()
    .catch(() => undefined)) as { readonly error?: { readonly code?: unknown } } | undefined
  if (body?.error?.code === 'E-NOTFOUND')
    missingPaths.set(new Set([...missingPaths.get(), new URL(url, location.origin).pathname]))
}
