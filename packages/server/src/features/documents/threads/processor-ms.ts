/** Processor time of this thread since it began, in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
