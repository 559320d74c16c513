import { watch } from 'node:fs'
import { resolve } from 'node:path'
import { errorCode } from '#lib/system-error.ts'
import { type Command, type CommandInput, textOption, UsageError } from '../../command.ts'
import { explanationOf } from '../../failure-report.ts'
import { bundleScripts } from '../bundle-scripts.ts'
import { warningsOf } from '../page-resources.ts'
import { readProject } from '../read-project.ts'
import type { DevServer } from './dev-server.ts'

const defaultPort = '8090'
// Editors write a file in several steps.
const settleMs = 100

export const devApp: Command = {
  name: 'app dev',
  summary: 'Run an app while it is made, and load it again at each change.',
  description:
    'Starts a Kith server of its own in this process with one file of the app, and a page that hosts the app, both on 127.0.0.1 alone. The page has a key in its address, without which other users of the machine get nothing. It shows the app in the same sandbox as a server does, and lets you choose theme, language and access. What is wrong with the app when it is built, and what goes wrong in its page, is told there and on standard error. Capabilities and file types are those that the manifest had at the start. An app that has `files:read` alone opens a text, or the file of `--file`. The data goes when the command ends, unless `--data` names a folder. It prints one JSON line, `{"event":"ready","url":…}`, and ends with Ctrl+C.',
  positionals: ['[FOLDER]'],
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      meaning: `The port of the page; ${defaultPort} when absent, 0 for a free one.`,
    },
    file: {
      type: 'string',
      value: 'PATH',
      meaning: 'A file for an app with `files:read` to open, such as a picture.',
    },
    data: { type: 'string', value: 'DIR', meaning: 'Where the data stays; a folder of its own.' },
  },
  async run(input) {
    const folder = resolve(input.arguments.FOLDER ?? '.')
    const port = portOf(input)
    const { manifest } = await readProject(folder)
    const paths = { folder: pathOption(input, 'data'), path: pathOption(input, 'file') }
    // Imported only here: no other command but `serve` needs the HTTP server and its pages.
    const [{ openDevData }, { DevServer }] = await Promise.all([
      import('./dev-data.ts'),
      import('./dev-server.ts'),
    ])
    await using opened = new AsyncDisposableStack()
    const data = await openDevData(manifest, paths)
    opened.defer(() => data.close())
    const { name, entry, capabilities = [] } = manifest
    const server = new DevServer(data, { name, entry, capabilities }, (text) =>
      input.complain(text.split('\n')),
    )
    const url = await server.listen(port).catch((error: unknown) => {
      if (errorCode(error) !== 'EADDRINUSE') throw error
      throw new UsageError(
        `--port ${port} is taken by another program: choose another one, or 0 for a free one`,
      )
    })
    opened.defer(() => server.close())
    await build(folder, server, input)
    input.print(JSON.stringify({ event: 'ready', url, server: data.serverUrl }))
    await rebuildUntil(input.interruption(), folder, () => build(folder, server, input))
    return undefined
  },
}

function pathOption(input: CommandInput, name: string): string | undefined {
  const path = textOption(input, name)
  return path === undefined ? undefined : resolve(path)
}

function portOf(input: CommandInput): number {
  const text = textOption(input, 'port') ?? defaultPort
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new UsageError('--port is a number up to 65535')
  return port
}

/** Builds the app and shows it, with what will not work of its pages. Where it cannot be built, the page and standard error say why,
 * and what was built before stays. */
async function build(
  folder: string,
  server: DevServer,
  terminal: Pick<CommandInput, 'complain'>,
): Promise<void> {
  try {
    const files = await bundleScripts(await readProject(folder), { minify: false })
    const warnings = warningsOf(files)
    for (const warning of warnings) terminal.complain(warning)
    server.show(files, warnings.join('\n'))
  } catch (error) {
    const problem = explanationOf(error)
    terminal.complain(problem)
    server.complain(problem.join('\n'))
  }
}

/** Builds after each change, one build at a time, until the signal aborts. */
async function rebuildUntil(
  signal: AbortSignal,
  folder: string,
  rebuild: () => Promise<void>,
): Promise<void> {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let building = Promise.resolve()
  const watcher = watch(folder, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      building = building.then(rebuild)
    }, settleMs)
  })
  signal.addEventListener('abort', () => end(), { once: true })
  if (signal.aborted) end()
  await promise
  clearTimeout(timer)
  watcher.close()
  await building
}
