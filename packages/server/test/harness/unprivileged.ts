// The uid of `nobody` on Linux, who owns no files.
const otherUser = 65_534

/** Runs the work as a user whom file modes restrict, since they do not restrict root. Its working directory is `/`, because
 * that user may not be allowed to enter the folder of the project. */
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
