import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const root = resolve(import.meta.dirname, '../..')

interface Instruction {
  readonly keyword: string
  readonly rest: string
}
interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly Instruction[]
}

/** The stages of the Dockerfile. */
export async function readStages(): Promise<Stage[]> {
  const text = await readFile(join(root, 'deploy/Dockerfile'), 'utf8')
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { name: string; from: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^(\w+) +(.*)$/.exec(line) ?? []
    if (keyword === 'FROM') {
      const [from = '', , name = 'last'] = rest.split(' ')
      stages.push({ name, from, instructions: [] })
    } else stages.at(-1)?.instructions.push({ keyword, rest: rest.trim() })
  }
  return stages
}

// What takes packages from the network is for a machine that has one.
const ofNetwork = /^(?:apt-get (?:update|install) |apt-get update$|npm ci |rm -rf \/var\/lib\/apt\/lists)/

/** The commands of a RUN that need no network; none may be left. */
export function localCommands(rest: string): { run: string; left: string[] } {
  const commands = rest.split(' && ').map((command) => command.trim())
  const left = commands.filter((command) => ofNetwork.test(command))
  return { run: commands.filter((command) => !ofNetwork.test(command)).join(' && '), left }
}

export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A script that makes the image on this machine: its own system stands in the place of Debian and Node. */
export function buildScript(stages: readonly Stage[], args: Readonly<Record<string, string>>): string {
  return stages.map((stage) => stageScript(stage, args)).join('\n')
}

function stageScript({ name, from, instructions }: Stage, args: Readonly<Record<string, string>>): string {
  const at = `/mnt/${name}/root`
  const lines = [`echo "== stage ${name}"`, `layer ${name} ${from.includes(':') ? '/' : `/mnt/${from}/root`}`]
  let folder = '/'
  let user = 'root'
  const env: Record<string, string> = {
    ...args,
    PATH: '/src/node_modules/.bin:/usr/sbin:/usr/bin:/sbin:/bin',
  }
  for (const { keyword, rest } of instructions)
    if (keyword === 'WORKDIR') {
      folder = rest
      lines.push(`mkdir --parents ${at}${folder}`)
    } else if (keyword === 'USER') user = rest
    else if (keyword === 'COPY') lines.push(...copyLines(rest, at, folder))
    else if (keyword === 'RUN') {
      if (/\bnpm ci /.test(rest)) lines.push(`packages ${at}${folder}`)
      const { run } = localCommands(rest)
      const given = Object.entries(env).map(([key, value]) => `${key}=${quoted(value)}`)
      if (run !== '') lines.push(`as ${name} ${user} ${folder} ${given.join(' ')} sh -c ${quoted(run)}`)
    }
  return lines.join('\n')
}

function copyLines(rest: string, at: string, folder: string): string[] {
  const words = rest.split(/ +/)
  const flags = words.filter((word) => word.startsWith('--'))
  const paths = words.filter((word) => !word.startsWith('--'))
  const target = paths.pop() ?? ''
  const stage = flags.find((flag) => flag.startsWith('--from='))?.slice('--from='.length)
  const owner = flags.find((flag) => flag.startsWith('--chown='))?.slice('--chown='.length)
  if (stage === undefined)
    return [`context ${at}${folder} ${paths.map((path) => path.replace(/\/$/, '')).join(' ')}`]
  const to = resolve(folder, target)
  return [
    `mkdir --parents ${at}${to} && cp -a /mnt/${stage}/root${paths[0]}/. ${at}${to}`,
    ...(owner === undefined ? [`chown -R root:root ${at}${to}`] : [`chroot ${at} chown -R ${owner} ${to}`]),
  ]
}

export interface Service {
  readonly environment: Readonly<Record<string, string | null>>
  readonly volumes: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly tmpfs?: string
}

/** The server's service of a compose file, with what its reader gives. */
export async function readService(file: string, given: Readonly<Record<string, string>>): Promise<Service> {
  const text = await readFile(join(root, 'deploy', file), 'utf8')
  const filled = text
    .replaceAll(/^ *#.*$/gm, '')
    .replaceAll(
      /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
      (_whole, name: string, mark: string, rest = '') => given[name] ?? (mark === '-' ? rest : fail(name)),
    )
  return parse(filled).services.kith
}

function fail(name: string): never {
  throw new Error(`nobody gives ${name}`)
}

/** What the image says of how it is run: its environment, user, folder, command and check. */
export function contractOf(stage: Stage) {
  const last = (keyword: string) =>
    stage.instructions.findLast((each) => each.keyword === keyword)?.rest ?? ''
  const env: Record<string, string> = Object.fromEntries(
    [...last('ENV').matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, text, word]) => [
      name,
      text ?? word ?? '',
    ]),
  )
  const words = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')))
  return {
    env,
    user: last('USER'),
    folder: last('WORKDIR'),
    volume: last('VOLUME'),
    command: words(last('CMD')),
    check: words(last('HEALTHCHECK')),
  }
}
