/** What the first screen waits for, and which is therefore asked for before the code of the app has come: by its path. */
export type Begun = Map<string, Promise<Response>>

/** Where the first script leaves it for the app. */
export interface BegunPlace {
  kithBegun?: Begun
}

export const loginPath = '/api/auth/login-token'
interface Opening {
  readonly place: Pick<Location, 'pathname' | 'search'>
  /** Whether a worker is there, which sees to the bearer of pictures itself. */
  readonly hasWorker: boolean
}

/** What is asked for as soon as it is known who uses the app, in the words of its own requests. */
export function firstPathsOf({ place: { pathname, search }, hasWorker }: Opening): readonly string[] {
  const media = '/api/auth/access-token?scope=read%3Afiles+read%3Aprofile'
  const feed = '/api/actions?status=A%2CN&type=POST%2CREPOST%2CSHRE&limit=20'
  return [...(hasWorker ? [] : [media]), ...(pathname === '/' && search === '' ? [feed] : [])]
}
