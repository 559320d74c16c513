import { setFlagsFromString } from 'node:v8'
import { openLogger } from '#infra/telemetry/index.ts'
import { yieldPoolThreads } from '#infra/threads/index.ts'
import { lockDataDir } from '../lock-data-dir.ts'
import type { RunningServer } from '../server.ts'
import type { Command } from './command.ts'
import { readCommandConfig } from './open-program.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Run the server until it is told to stop.',
  description:
    'When it is ready it prints one JSON line, `{"event":"ready","url":…,"baseIdTag":…,"address":…}`, whether `--json` is given or not, with `setUpUrl` while the base tenant has no password; the log goes to standard error. SIGTERM and SIGINT let it finish what runs, within ten seconds; a second one ends it at once.',
  positionals: [],
  options: {},
  async run({ env }) {
    const config = readCommandConfig({ env })
    const logger = openLogger(config.log)
    // After an error that nobody caught nothing in memory can be trusted: the process ends by it, and the log says why.
    // What was acknowledged is on disk, and whatever started the process starts it again.
    process.on('uncaughtExceptionMonitor', (err, origin) =>
      logger.fatal({ err, origin }, 'ended by an error that nobody caught'),
    )
    // Imported only here: no other command needs the HTTP server and every feature behind it.
    const { startServer } = await import('../server.ts')
    // Before the start, so that a signal does not cut it off in the middle.
    const told = untilTold()
    const lock = await lockDataDir(config.dataDir)
    const server = await startServer(config, { logger })
    // The program keeps the young generation of the heap small while it loads; under load that costs a sixth of the time.
    setFlagsFromString('--semi-space-growth-factor=2')
    await yieldPoolThreads()
    announce(server)
    await told
    await server.stop()
    lock.close()
    logger.info({}, 'stopped')
    await logger.flush()
    return undefined
  },
}

/** One line for programs on standard output; what a person needs goes with the log. */
function announce({ url, services, addresses, setUpUrl }: RunningServer): void {
  const { baseIdTag, dataDir } = services.config
  const address = addresses.serverUrl(baseIdTag)
  process.stdout.write(
    `${JSON.stringify({ event: 'ready', url, baseIdTag, address, ...(setUpUrl ? { setUpUrl } : {}) })}\n`,
  )
  if (!process.stderr.isTTY) return
  const lines = [
    `Kith answers at ${address} for ${baseIdTag}; its data is in ${dataDir}.`,
    `The API is described at ${address}/api/docs.`,
    ...(setUpUrl ? [`Set the password of ${baseIdTag} here, once: ${setUpUrl}`] : []),
  ]
  process.stderr.write(`\n${lines.map((line) => `  ${line}`).join('\n')}\n\n`)
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    let isTold = false
    const tell = () => {
      if (isTold) process.exit(1)
      isTold = true
      resolve()
    }
    process.on('SIGTERM', tell)
    process.on('SIGINT', tell)
  })
}
