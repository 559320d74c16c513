import { setTimeout } from 'node:timers/promises'
import { printable } from '#lib/printable.ts'
import { askSecret } from './ask-secret.ts'
import { stackLines } from './failure-report.ts'
import { runCommandLine } from './run-command-line.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe early; any other error means that output was lost.
  if (error.code !== 'EPIPE') process.exitCode = 1
})

// Uncaught errors are printed with control characters escaped: a message may contain text of a client, which could
// rewrite the screen.
process.on('uncaughtException', (error: unknown) => {
  const lines = error instanceof Error ? stackLines(error) : [String(error)]
  process.stderr.write(`${lines.map(printable).join('\n')}\n`)
  process.exit(1)
})

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
  ask: askSecret,
  interruption,
  pause: setTimeout,
})

function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => controller.abort(new Error('It was interrupted, and nothing of it is left.')))
  return controller.signal
}
