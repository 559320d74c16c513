// What Linux calls nobody.
const otherUser = 65_534

/** Does the work as a user to whom modes of files apply: those of root do not. */
export async function unprivileged<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return await work()
  process.seteuid?.(otherUser)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
