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
  readonly ports?: readonly string[]
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

  test('answers DNS on port 53 where its comments are taken away', () => {
    const option = /^( *)# ((?:DNS_LISTEN|LOCAL_ADDRESSES|ports):.*| {2}- '53:.*)$/gm
    const opened: Compose = parse(read(`deploy/${name}`).replaceAll(option, '$1$2'), { merge: true })
    const built = Object.values(opened.services).filter(({ build }) => build)
    for (const { environment = {} } of built) {
      const text = Object.entries({ ...environment, LOCAL_ADDRESSES: '198.51.100.7' })
      const filledIn = text.map(([key, value]) => [key, filled(value)])
      const { federation } = readConfig({ DATA_DIR: '/data', ...Object.fromEntries(filledIn) })
      expect(federation.dnsListen).toEqual([{ host: '0.0.0.0', port: 5353 }])
      expect(federation.localAddresses).toEqual(['198.51.100.7'])
      expect(environment).toHaveProperty('LOCAL_ADDRESSES')
    }
    expect(built.flatMap(({ ports = [] }) => ports)).toEqual(['53:5353/udp', '53:5353/tcp'])
    expect(nodes.flatMap(([, { ports = [] }]) => ports)).toEqual([])
  })

  test('says of services what there is to say', () => {
    const known =
      /^(?:build|image|command|restart|environment|ports|volumes|read_only|tmpfs|cap_drop|security_opt|stop_grace_period|depends_on|healthcheck|hostname|secrets)$/
    for (const [service, about] of services) {
      expect(Object.keys(about).filter((key) => !known.test(key))).toEqual([])
      expect('build' in about !== 'image' in about, service).toBe(true)
    }
    for (const image of services.flatMap(([, about]) => ('image' in about ? [String(about.image)] : [])))
      expect(image).toMatch(/^[a-z]+:\d+$/)
    for (const [service, node] of nodes)
      expect(node, service).toMatchObject({
        read_only: true,
        tmpfs: '/tmp',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: '15s',
      })
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

describe('deploy/compose.tls.yaml', () => {
  const compose: Compose = parse(read('deploy/compose.tls.yaml'))
  const { environment = {}, ports = [] } = compose.services.kith ?? {}

  test('ends TLS itself, at ports that are mapped and that need no rights', () => {
    const text = Object.entries(environment).map(([key, value]) => [key, filled(value)])
    expect(text.map(([key]) => key).filter((key = '') => !(key in variables))).toEqual([])
    const { tls, listen, publicUrl } = readConfig({ DATA_DIR: '/data', ...Object.fromEntries(text) })
    expect(tls.kind).toBe('acme')
    expect(publicUrl.template).toBe('https://{idTag}')
    expect(ports).toEqual([`80:${listen.port}`, `443:${tls.kind === 'off' ? 0 : tls.listen.port}`])
    expect(listen.port).toBe(8080)
  })
})

describe('deploy/Dockerfile', () => {
  test('copies what is there', () => {
    const sources = dockerfile
      .filter((line) => line.startsWith('COPY') && !line.includes('--from'))
      .flatMap((line) => line.split(/ +/).slice(1, -1))
    expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([])
    // All but what is listed is left out of what the build may see.
    const [all, ...listed] = read('deploy/Dockerfile.dockerignore').split('\n')
    const seen = listed.flatMap((line) => /^!(.*)$/.exec(line)?.[1] ?? [])
    expect(all).toBe('*')
    const isSeen = (path: string) => seen.some((one) => `${path.replace(/\/$/, '')}/`.startsWith(`${one}/`))
    expect(sources.filter((path) => !isSeen(path))).toEqual([])
    const manifests = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`)
    for (const manifest of [...manifests, 'bench/package.json'].filter((path) =>
      existsSync(join(root, path)),
    ))
      expect(sources).toContain(manifest)
  })

  test('holds what linters ask', () => {
    const starting = (word: string) => dockerfile.filter((line) => line.startsWith(`${word} `))
    const known = /^(?:FROM|WORKDIR|COPY|RUN|ARG|ENV|USER|VOLUME|EXPOSE|HEALTHCHECK|CMD) /
    expect(dockerfile.filter((line) => !known.test(line))).toEqual([])
    // An image has a tag that is no moving target, a folder is named from the root, and commands are lists of words.
    for (const line of starting('FROM'))
      expect(line).toMatch(
        new RegExp(`^FROM (?:[a-z]+:(?!latest)[\\w.-]+|${stages.join('|')})(?: AS [a-z]+)?$`),
      )
    for (const line of starting('WORKDIR')) expect(line).toMatch(/^WORKDIR \//)
    for (const line of starting('CMD')) expect(line).toMatch(/^CMD \["/)
    const runs = starting('RUN')
    for (const [install] of runs.flatMap((line) => [...line.matchAll(/apt-get install [^&]*/g)]))
      expect(install).toMatch(/^apt-get install --yes --no-install-recommends /)
    // What an image is made of keeps no lists of packages; stages that are left behind may.
    const kept = dockerfile.slice(dockerfile.findIndex((line) => line.endsWith(' AS base')))
    for (const line of kept.filter((one) => one.includes('apt-get update')))
      expect(line).toContain('rm -rf /var/lib/apt/lists/*')
    expect(runs.filter((line) => /\bsudo\b|apt-get (?:dist-)?upgrade|\blatest\b/.test(line))).toEqual([])
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
    const paths = [...read(name).matchAll(/\/opt\/kith\/current\/([\w./-]+)/g)].map(([, path = '']) => path)
    expect(paths).toContain('bin/kith')
    const inRelease = paths.map((path) => (path === 'bin/kith' ? 'scripts/release/kith.sh' : path))
    expect(inRelease.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

describe('deploy/kith.service', () => {
  test('has no rights, and with kith-ports.conf one', () => {
    expect(read('deploy/kith.service').match(/^(?:Capability|Ambient).*$/gm)).toEqual([
      'CapabilityBoundingSet=',
    ])
    expect(read('deploy/kith-ports.conf').match(/^[^#].*$/gm)).toEqual([
      '[Service]',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
      'AmbientCapabilities=CAP_NET_BIND_SERVICE',
    ])
  })
})

describe('docs/operations/upgrade.md', () => {
  test('stops a server that runs from a clone before its packages are replaced', () => {
    const scripts = read('docs/operations/upgrade.md').split('## From a clone')[1]?.split('```')[1] ?? ''
    expect(scripts).toMatch(/systemctl stop kith\n.*npm ci.*\n.*systemctl start kith/)
    for (const page of readdirSync(join(root, 'docs/operations')))
      expect(read(`docs/operations/${page}`)).not.toMatch(/npm ci.*\n(?:.*\n)?.*systemctl restart/)
  })
})

describe('docs/operations/metrics.md', () => {
  test('names every metric of the server, and no other', async () => {
    await using server = await TestServer.start()
    const { text } = await server.running.services.metrics.scrape()
    const known = [...text.matchAll(/^# TYPE (kith_\w+) /gm)].map(([, name]) => name)
    const named = [...read('docs/operations/metrics.md').matchAll(/`(kith_\w+)/g)].map(([, name]) => name)
    expect([...new Set(named)].sort()).toEqual(known.sort())
  })
})

describe('deploy/grafana-dashboard.json', () => {
  interface Panel {
    readonly id: number
    readonly title: string
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
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
    const own = known.filter((metric) => metric.startsWith('kith_'))
    expect(own.filter((metric) => !expressions.some((expression) => expression.includes(metric)))).toEqual([])
  })

  test('has panels of different ids that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})

describe.each([
  'README.md',
  'docs/operations/install.md',
  'docs/operations/upgrade.md',
  'docs/operations/backup.md',
  'docs/operations/administration.md',
  'docs/operations/push.md',
  'docs/operations/metrics.md',
  'docs/operations/proxy-sites.md',
  'docs/operations/identity-provider.md',
  'docs/operations/tls.md',
  'docs/operations/apps.md',
])('%s', (path) => {
  const text = read(path)

  test('names commands that there are in its sentences', () => {
    const spans = [...text.matchAll(/`kith ((?:[a-z]|--)[^`]*)`/g)].map(([, span = '']) => span)
    for (const words of spans.map((span) => span.split(/\s+/))) {
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
