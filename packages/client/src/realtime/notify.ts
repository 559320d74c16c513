/** Calls code of the application. An error that it throws is reported as uncaught, and does not interrupt the caller. */
export function notify<Args extends unknown[]>(
  callback: ((...args: Args) => void) | undefined,
  ...args: Args
): void {
  try {
    callback?.(...args)
  } catch (error) {
    const { reportError } = globalThis as { reportError?: (error: unknown) => void }
    if (reportError) reportError(error)
    else
      queueMicrotask(() => {
        throw error
      })
  }
}

/** Tells the developer of an application that has no callback for it. */
export function warn(problem: string | Error): void {
  // biome-ignore lint/suspicious/noConsole: a library has no log, and the application was given no other word
  console.warn(problem)
}
