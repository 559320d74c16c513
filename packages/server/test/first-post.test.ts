import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { listActions } from '@kith/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const root = resolve(import.meta.dirname, '../../..')
const guides = ['docs/guides/first-post.md', 'docs/guides/first-post-curl.md'] as const

type Guide = (typeof guides)[number]

function read(guide: Guide) {
  const text = readFileSync(resolve(root, guide), 'utf8')
  const blocks = [...text.matchAll(/^```(\w+)[^\n]*\n(.*?)^```/gms)]
  return { text, blocks: blocks.map(([, language = '', source = '']) => ({ language, source })) }
}

/** Runs a program in the folder of the clone, as its reader does. */
async function run(program: string, words: readonly string[], input: string): Promise<string> {
  const child = spawn(program, words, { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.on('data', (part) => (said.out += part))
  child.stderr.on('data', (part) => (said.err += part))
  child.stdin.end(input)
  const code = await new Promise((done) => child.once('close', done))
  expect({ code, err: said.err }).toEqual({ code: 0, err: '' })
  return said.out
}

/** A server as the guide starts it; what follows in the guide runs against it, with the port alone changed. */
async function follow(guide: Guide) {
  const [start, ...others] = read(guide).blocks
  const [, password = ''] = /^BASE_PASSWORD='(.*)' npm start$/m.exec(start?.source ?? '') ?? []
  const server = await TestServer.start({ baseIdTag: 'home.localhost', env: { BASE_PASSWORD: password } })
  onTestFinished(() => server.stop())
  const sources = others.map(({ source }) => source.replaceAll(':8080', `:${server.running.port}`))
  const posts = async () =>
    (await server.client('home.localhost').call(listActions, { query: { type: ['POST'] } })).data
  return { sources, posts }
}

test('ten lines with the client lead to a first post', async () => {
  const guide = 'docs/guides/first-post.md'
  const { sources, posts } = await follow(guide)
  const [program = '', command] = sources
  expect(program.trimEnd().split('\n')).toHaveLength(10)
  expect(command).toBe('npx node first-post.ts\n')
  const out = await run(process.execPath, ['--input-type=module-typescript', '-'], program)
  expect(read(guide).text).toContain(`It prints \`${out.trim()}\``)
  expect(await posts()).toMatchObject([{ content: { text: 'Hello, world' }, visibility: 'P' }])
})

test('curl leads to a first post, and to one with an API key', async () => {
  const { sources, posts } = await follow('docs/guides/first-post-curl.md')
  const out = await run('sh', ['-e'], sources.join('\n'))
  const answers = out.replaceAll('}{', '}\n{').split('\n')
  const [made, listed, byKey] = answers.map((line) => JSON.parse(line).data)
  expect(listed).toMatchObject([{ actionId: made.actionId, content: { text: 'Hello, world' } }])
  expect(byKey.content).toEqual({ text: 'Hello from a script' })
  expect(await posts()).toHaveLength(2)
})

test.each(guides)('%s links to files that there are, and is linked from the first page', (guide) => {
  const links = [...read(guide).text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link)
  expect(links.filter((link) => !existsSync(resolve(root, dirname(guide), link)))).toEqual([])
  expect(readFileSync(resolve(root, 'README.md'), 'utf8')).toContain(`](${guide})`)
})
