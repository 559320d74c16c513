import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { describeUnknown } from '#infra/config/index.ts'
import { openLogger } from '#infra/telemetry/index.ts'
import { yieldPoolThreads } from '#infra/threads/index.ts'
import type { RunningServer } from '../server.ts'
import { setUpLinkFile } from '../set-up-link.ts'
import type { Command, CommandInput } from './command.ts'
import { readCommandConfig } from './open-program.ts'

// A release has it there as well.
const webBuild = join(import.meta.dirname, '../../../../web/dist')

export const serve: Command = {
  name: 'serve',
  summary: 'Run the server until it is told to stop.',
  description:
    'When it is ready it prints one JSON line where standard output is not a terminal, `{"event":"ready","url":…,"baseIdTag":…,"address":…}`, whether `--json` is given or not; the log goes to standard error. While the base tenant has no password, the link that sets it is in `DATA_DIR/setup-link` and shown on a terminal; neither that line nor the log has it. Where `TLS` is `files`, SIGHUP has the certificate read anew; without a terminal it does nothing else. SIGTERM and SIGINT let it finish what runs, within ten seconds; a second one ends it at once.',
  positionals: [],
  options: {},
  async run({ env, print, complain }) {
    const config = readCommandConfig({ env })
    const logger = openLogger(config.log)
    if (config.unknown.length > 0)
      logger.warn({ names: config.unknown.map(describeUnknown) }, 'variables that are not known are ignored')
    // After an uncaught error nothing in memory can be trusted: the process ends by it, and the log says why.
    process.on('uncaughtExceptionMonitor', (err, origin) =>
      logger.fatal({ err, origin }, 'ended by an error that nobody caught'),
    )
    // Imported only here: no other command needs the HTTP server and every feature behind it.
    const { startServer } = await import('../server.ts')
    const { assertStartable } = await import('../assert-startable.ts')
    // Before the start, so that a signal does not cut it off in the middle.
    const told = untilTold()
    await assertStartable(config)
    const server = await startServer(config, { logger, webBuild })
    // On a terminal it says that the terminal is gone, and ends the program as ever.
    if (!process.stdin.isTTY) process.on('SIGHUP', () => void server.reloadCertificates())
    // The program keeps the young generation of the heap small while it loads; under load that costs a sixth of the time.
    setFlagsFromString('--semi-space-growth-factor=2')
    await yieldPoolThreads()
    announce(server, { print, complain })
    if (!server.hasWebApp)
      logger.info({ folder: webBuild }, 'the web app is not built: npm run build builds it')
    if (server.setUpUrl)
      logger.info(
        { file: setUpLinkFile(config.dataDir) },
        'the base tenant has no password: the link that sets it is in this file',
      )
    await told
    await server.stop()
    logger.info({}, 'stopped')
    await logger.flush()
    return undefined
  },
}

/** One line for programs on standard output; where that is a terminal, or the log goes to one, sentences for a person. */
function announce(
  server: RunningServer,
  { print, complain }: Pick<CommandInput, 'print' | 'complain'>,
): void {
  const { stdout, stderr } = process
  if (!stdout.isTTY) print(readyLine(server))
  if (stdout.isTTY) print(readySentences(server))
  else if (stderr.isTTY) complain(readySentences(server))
}

// Services keep it in a log, so the set-up link is not in it.
function readyLine({ url, services, addresses }: RunningServer): string {
  const { baseIdTag } = services.config
  const address = addresses.serverUrl(baseIdTag)
  return JSON.stringify({ event: 'ready', url, baseIdTag, address })
}

function readySentences(server: RunningServer): string[] {
  const { services, addresses, setUpUrl } = server
  const { baseIdTag, dataDir } = services.config
  const address = addresses.serverUrl(baseIdTag)
  const lines = [
    `Kith answers at ${address} for ${baseIdTag}; its data is in ${dataDir}.`,
    setUpUrl
      ? `Set the password of ${baseIdTag} here, once: ${setUpUrl}`
      : `Sign in there as ${baseIdTag}. What else there is to do: npx kith`,
    ...tunnelLines(server),
    `The API is described at ${address}/api/docs. Ctrl+C ends the server.`,
  ]
  return ['', ...lines.map((line) => `  ${line}`), '']
}

/** Names below `localhost` lead every browser to its own machine, and without TLS it stays signed in nowhere else. */
function tunnelLines({ services: { config }, port, setUpUrl }: RunningServer): string[] {
  if (!setUpUrl || !config.baseIdTag.endsWith('.localhost')) return []
  const command = `ssh -L ${port}:127.0.0.1:${port} THIS_MACHINE`
  return [`Is your browser on another machine? Run \`${command}\` there first, then open the same link.`]
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
