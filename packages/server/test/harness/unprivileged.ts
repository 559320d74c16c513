// The user `nobody` on Linux, who owns no files.
const otherUser = 65_534

/** Does the work as a user to whom modes of files apply: those of root do not. It is done from the root of the file system,
 * since the project may lie in a folder that is closed to that user. */
export async function unprivileged<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return await work()
  const present = process.cwd()
  process.chdir('/')
  process.seteuid?.(otherUser)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    process.chdir(present)
  }
}
