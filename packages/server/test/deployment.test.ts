import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { commands } from '#app/cli/commands.ts'
import { readConfig, variables } from '#infra/config/index.ts'
import { TestServer } from './harness/test-server.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Service {
  readonly build?: { readonly context: string; readonly dockerfile: string; readonly target?: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, object>>
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly user?: string
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
}

/** Instructions of a Dockerfile, those that go over several lines in one. */
const dockerfile = read('deploy/Dockerfile')
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .join('\n')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
const stages = dockerfile.flatMap((line) => /^FROM \S+ AS (\S+)$/.exec(line)?.[1] ?? [])

/** What a person would put in the place of `${NAME:-default}`. */
const given: Readonly<Record<string, string>> = { BASE_ID_TAG: 'example.com', POSTGRES_PASSWORD: 'letters1' }
const filled = (text: string) =>
  text.replaceAll(/\$\{(\w+)(?::[-?]([^}]*))?\}/g, (_whole, name: string, rest = '') => given[name] ?? rest)

describe.each(['compose.yaml', 'compose.cluster.yaml'])('deploy/%s', (name) => {
  const compose: Compose = parse(read(`deploy/${name}`), { merge: true })
  const services = Object.entries(compose.services)
  const nodes = services.filter(([, { build }]) => build)

  test('gives the nodes an environment that they understand', () => {
    expect(nodes.length).toBeGreaterThan(0)
    for (const [, { environment = {} }] of nodes) {
      const text = Object.entries(environment).map(([key, value]) => [key, filled(value)])
      expect(text.map(([key]) => key).filter((key = '') => !(key in variables))).toEqual([])
      const config = readConfig({ DATA_DIR: '/data', ...Object.fromEntries(text) })
      expect(config.baseIdTag).toBe('example.com')
      expect(config.publicUrl.servesEveryTenant).toBe(true)
      expect(config.trustedProxies).not.toEqual([])
    }
  })

  test('refers to services, volumes, secrets, stages and files that there are', () => {
    for (const [, service] of services) {
      for (const other of Object.keys(service.depends_on ?? {}))
        expect(compose.services).toHaveProperty(other)
      for (const secret of service.secrets ?? []) expect(compose.secrets).toHaveProperty(secret)
      for (const [from = ''] of (service.volumes ?? []).map((volume) => volume.split(':')))
        if (from.startsWith('.')) expect(existsSync(join(root, 'deploy', from))).toBe(true)
        else expect(Object.keys(compose.volumes)).toContain(from)
      const { build } = service
      if (!build) continue
      expect(existsSync(join(root, 'deploy', build.context, build.dockerfile))).toBe(true)
      if (build.target !== undefined) expect(stages).toContain(build.target)
    }
  })
})

describe('deploy/Dockerfile', () => {
  test('copies what is there', () => {
    const sources = dockerfile
      .filter((line) => line.startsWith('COPY') && !line.includes('--from'))
      .flatMap((line) => line.split(/ +/).slice(1, -1))
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const manifests = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`)
    for (const manifest of [...manifests, 'bench/package.json'].filter((path) =>
      existsSync(join(root, path)),
    ))
      expect(sources).toContain(manifest)
  })

  test('runs the program as nobody in particular, with an environment that it understands', () => {
    const started = dockerfile.findLast((line) => line.startsWith('CMD')) ?? ''
    const [node, path = '', command] = JSON.parse(started.slice(4))
    expect({ node, command }).toEqual({ node: 'node', command: 'serve' })
    expect(existsSync(join(root, path.replace('/app/', '')))).toBe(true)
    const set = dockerfile.filter((line) => line.startsWith('ENV')).join(' ')
    const names = [...set.matchAll(/(\w+)=/g)].map(([, name]) => name).filter((name) => name !== 'PATH')
    expect(names.filter((name = '') => !(name in variables))).toEqual([])
    expect(names).toContain('DATA_DIR')
    for (const stage of dockerfile
      .join('\n')
      .split(/^FROM /m)
      .slice(3)) {
      const users = [...stage.matchAll(/^USER (.*)$/gm)].map(([, user]) => user)
      expect(users.at(-1) ?? 'kith').toBe('kith')
    }
  })

  test('asks for its health with Node, at a path that answers', async () => {
    const check = dockerfile.find((line) => line.startsWith('HEALTHCHECK')) ?? ''
    const [program, , script = ''] = JSON.parse(check.slice(check.indexOf('[')))
    expect(program).toBe('node')
    const path = /127\.0\.0\.1:8080(\/\w+)/.exec(script)?.[1] ?? ''
    await using server = await TestServer.start()
    expect((await server.request(server.baseIdTag, path)).status).toBe(200)
  })
})

describe('deploy/kith.service and deploy/kith.sh', () => {
  test.each(['deploy/kith.service', 'deploy/kith.sh'])('%s starts what is installed', (name) => {
    const paths = [...read(name).matchAll(/\/opt\/kith\/([\w./-]+)/g)].map(([, path = '']) => path)
    expect(paths).toContain('packages/server/bin/kith.js')
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

describe('deploy/grafana-dashboard.json', () => {
  interface Panel {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }
  const panels: Panel[] = JSON.parse(read('deploy/grafana-dashboard.json')).panels
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  test('shows metrics that the server has, by labels that they have', async () => {
    await using server = await TestServer.start()
    const { metrics } = server.running.services
    metrics.jobRan('some', 'done', 1)
    metrics.deliveryTried('delivered', 1)
    await server.request(server.baseIdTag, '/api/me')
    const { text } = await metrics.scrape()
    const lines = text.split('\n')
    const known = lines.flatMap((line) => /^# TYPE (\w+) /.exec(line)?.[1] ?? [])
    for (const expression of expressions) {
      const grouped = /by \(([^)]*)\)/.exec(expression)?.[1]?.split(/, */) ?? []
      for (const [, metric = '', selector = ''] of expression.matchAll(/\b(\w+)\{([^}]*)\}/g)) {
        expect(known, expression).toContain(metric.replace(/_(?:bucket|sum|count)$/, ''))
        const sample = lines.find((line) => line.startsWith(`${metric}{`))
        // Of what has not happened yet there is none.
        if (sample === undefined) continue
        const wanted = [...grouped, ...[...selector.matchAll(/(\w+)=/g)].map(([, label = '']) => label)]
        const missing = wanted.filter((label) => label !== 'instance' && !sample.includes(`${label}="`))
        expect(missing, expression).toEqual([])
      }
    }
    expect(expressions.length).toBeGreaterThan(10)
  })
})

describe.each(['README.md', 'docs/operations/install.md', 'docs/operations/backup.md'])('%s', (path) => {
  const text = read(path)

  test('names commands and options that there are', () => {
    const scripts = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, script = '']) => script)
    const lines = scripts
      .flatMap((script) => script.split(/\n|&&/))
      .map((line) => line.replace(/#.*|docker compose exec kith /g, ''))
    const spans = [...text.matchAll(/`(kith [^`]*)`/g)].map(([, span = '']) => span)
    const called = [...lines, ...spans].flatMap(
      (line) => /(?:^| )kith ((?:[a-z]|--).*)$/.exec(line.trim())?.[1] ?? [],
    )
    expect(called.length).toBeGreaterThan(2)
    for (const words of called.map((line) => line.split(/\s+/))) {
      if (words[0] === '--help') continue
      const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
      expect(command?.name, words.join(' ')).toBeDefined()
      const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
      expect(Object.keys(command?.options ?? {})).toEqual(expect.arrayContaining(options))
    }
  })

  test('names variables that there are', () => {
    const assigned = [...text.matchAll(/^(?:export )?([A-Z][A-Z_]+)=/gm)].map(([, name = '']) => name)
    expect(assigned.filter((name) => !(name in variables))).toEqual([])
  })

  test('links to files that there are', () => {
    const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link)
    expect(links.filter((link) => !existsSync(resolve(root, dirname(path), link)))).toEqual([])
  })
})
