import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { localFetch } from '#harness/local-fetch.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { type DevData, openDevData } from './dev-data.ts'
import { DevServer } from './dev-server.ts'

const manifest = {
  id: 'my-app',
  name: 'My "app"',
  version: '1.0.0',
  entry: 'index.html',
  capabilities: ['rtdb' as const],
}
const fetch = localFetch()

let data: DevData
let server: DevServer
let url: string
beforeAll(async () => {
  data = await openDevData(manifest)
  server = new DevServer(data, manifest)
  url = await server.listen(0)
  server.show([{ path: 'index.html', content: Buffer.from('<h1>App</h1>') }])
})
afterAll(async () => {
  await server?.close()
  await data?.close()
})

test('the page hosts the app with a file of its own', async () => {
  const answer = await fetch(url)
  const text = await answer.text()
  expect(text).toContain('My \\&quot;app\\&quot;')
  expect(text).toContain(data.file?.fileId)
  expect(answer.headers.get('content-security-policy')).toContain("frame-src 'self'")
  for (const path of ['dev.js', 'dev.css', 'host/host/index.ts', 'host/messages/shape.ts'])
    expect((await fetch(url + path)).status).toBe(200)
})

test('the app is served in a sandbox, and nothing but the app', async () => {
  const answer = await fetch(`${url}app/index.html`)
  expect(await answer.text()).toMatch(/<h1>App<\/h1>$/)
  expect(answer.headers.get('permissions-policy')).toContain('camera=()')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('content-security-policy')).toMatch(
    /^sandbox allow-scripts allow-forms; default-src 'none'/,
  )
  for (const path of [
    'app/app.json',
    'app/../dev.js/x',
    'host/host/pace.test.ts',
    'page/index.html',
    'dev-server.ts',
  ])
    expect((await fetch(url + path)).status).toBe(404)
})

test('other users of the machine get nothing without the key in the address', async () => {
  const { origin, pathname } = new URL(url)
  expect(pathname).toMatch(/^\/[\w-]{22}\/$/)
  for (const path of [
    '/',
    '/dev.js',
    '/events',
    '/app/index.html',
    '/host/host/index.ts',
    pathname.slice(0, -1),
  ])
    expect((await fetch(origin + path)).status, path).toBe(404)
  expect((await fetch(`${origin}/${'A'.repeat(22)}/`)).status).toBe(404)
})

test.each(['%zz', '%', 'app/%ff.html', '/'])(
  'the address %s is not there, and ends nothing',
  async (path) => {
    // With fetch, an address as no browser would tidy it is not to be had.
    const { hostname, port, pathname } = new URL(url)
    const asking = get({ hostname, port, path: `${pathname}${path}`, agent: false })
    const [answer] = await once(asking, 'response', { signal: AbortSignal.timeout(5_000) })
    answer.resume()
    expect(answer.statusCode).toBe(404)
    expect((await fetch(url)).status).toBe(200)
  },
)

test('another name that leads here gets nothing', async () => {
  const { port } = new URL(url)
  expect((await fetch(`http://mallory.localhost:${port}/`)).status).toBe(403)
})

test('tabs are told of changes and of what is wrong', async () => {
  const answer = await fetch(`${url}events`)
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => (await reader?.read())?.value
  expect(await next()).toBe('event: problem\ndata: ""\n\n')
  server.show([], 'one thing')
  expect(await next()).toBe('event: reload\ndata: "one thing"\n\n')
  server.complain('line 1\nline 2')
  expect(await next()).toBe('event: problem\ndata: "line 1\\nline 2"\n\n')
  await reader?.cancel()
  const later = await fetch(`${url}events`)
  const read = later.body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await read?.read())?.value).toBe('event: problem\ndata: "line 1\\nline 2"\n\n')
  await read?.cancel()
})

test('what goes wrong in the page of the app is told once to its author, and again to tabs', async () => {
  const told: string[] = []
  const another = new DevServer(data, manifest, (text) => told.push(text))
  onTestFinished(() => another.close())
  const base = await another.listen(0)
  another.show([
    { path: 'index.html', content: Buffer.from('<!DOCTYPE html>\n<html lang="en"><head><title>a</title>') },
    { path: 'pages/bare.html', content: Buffer.from('<p>$&</p>') },
  ])
  const script = `<script src="${new URL(base).pathname}app/.kith/report.js"></script>`
  expect(await (await fetch(`${base}app/index.html`)).text()).toBe(
    `<!DOCTYPE html>\n<html lang="en"><head>${script}<title>a</title>`,
  )
  expect(await (await fetch(`${base}app/pages/bare.html`)).text()).toBe(`${script}<p>$&</p>`)
  expect((await fetch(`${base}app/.kith/report.js`)).status).toBe(200)

  const answer = await fetch(`${base}events`)
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => (await reader?.read())?.value
  expect(await next()).toBe('event: problem\ndata: ""\n\n')
  const report = async (body: string) =>
    (await fetch(`${base}app/.kith/problem`, { method: 'POST', body })).status
  for (const text of ['x is not defined', 'x is not defined']) {
    expect(await report(text)).toBe(204)
    expect(await next()).toBe('event: problem\ndata: "x is not defined"\n\n')
  }
  await report('y'.repeat(5_000_000))
  for (let at = 0; at < 20; at += 1) await report(`failure ${at}`)
  expect(told.map((text) => text.length <= 4_000 && text.slice(0, 9))).toEqual([
    'x is not ',
    'yyyyyyyyy',
    ...Array.from({ length: 8 }, (_, at) => `failure ${at}`),
  ])
  await reader?.cancel()
  // What is built next has nothing of it.
  another.show([])
  const later = (await fetch(`${base}events`)).body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await later?.read())?.value).toBe('event: problem\ndata: ""\n\n')
  await later?.cancel()
})

test('at most 20 tabs listen, and one that goes makes room', async () => {
  const another = new DevServer(data, manifest)
  onTestFinished(() => another.close())
  const events = `${await another.listen(0)}events`
  // In a list, since an answer that nothing refers to is cancelled by the garbage collector.
  const tabs: { answer: Response; ending: AbortController }[] = []
  const open = async () => {
    const ending = new AbortController()
    const answer = await fetch(events, { signal: ending.signal })
    tabs.push({ answer, ending })
    return answer.status
  }
  for (let at = 0; at < 20; at += 1) expect(await open()).toBe(200)
  expect(await open()).toBe(503)
  tabs[0]?.ending.abort()
  await expect.poll(open).toBe(200)
  for (const { ending } of tabs) ending.abort()
})

describe('kith app dev', () => {
  test.each<[string, object, readonly string[], RegExp]>([
    ['a file for an app that reads none', {}, ['--file', 'app.json'], /files:read in the capabilities/],
    [
      'a file of a type that the app does not open',
      { capabilities: ['files:read'], fileTypes: ['image/*'] },
      ['--file', 'style.css'],
      /--file is a text\/css, which is not in the fileTypes/,
    ],
    [
      'no file for an app that opens pictures alone',
      { capabilities: ['files:read'], fileTypes: ['image/*', 'video/mp4'] },
      [],
      /--file is missing: .*image\/\* or video\/mp4/,
    ],
  ])('refuses %s', async (_what, members, words, message) => {
    await using line = await CommandLine.open()
    const folder = join(line.folder, 'my-app')
    const { manifest: made } = await line.json('app', 'init', folder)
    await writeFile(join(folder, 'app.json'), JSON.stringify({ ...made, ...members }))
    const paths = words.map((word) => (word.startsWith('--') ? word : join(folder, word)))
    const said = await line.run(['app', 'dev', folder, ...paths])
    expect(said.exitCode).toBe(2)
    expect(said.err).toMatch(message)
  })

  test('says how to choose another port where another program has it', async () => {
    await using line = await CommandLine.open()
    const folder = join(line.folder, 'my-app')
    await line.json('app', 'init', folder)
    const { port } = new URL(url)
    const said = await line.run(['app', 'dev', folder, '--port', port])
    expect(said).toMatchObject({ exitCode: 2, out: '' })
    expect(said.err).toContain(`--port ${port} is taken by another program: choose another one`)
  })

  test('serves an app, builds it again at a change, and leaves nothing when it is interrupted', async () => {
    await using line = await CommandLine.open()
    const folder = join(line.folder, 'my-app')
    await line.json('app', 'init', folder)
    await using dev = new ProgramProcess(['app', 'dev', folder, '--port', '0'], { TMPDIR: line.folder })
    const { event, url: page } = JSON.parse(await dev.firstLine())
    expect(event).toBe('ready')
    const script = async () => (await fetch(`${page}app/scripts/src-main.js`)).text()
    expect(await script()).toContain('Hello, ')
    await writeFile(join(folder, 'src/main.ts'), "document.title = 'Changed'\n")
    await expect.poll(script).toContain('Changed')
    dev.signal('SIGINT')
    expect(await dev.end()).toMatchObject({ exitCode: 0, err: '' })
    expect(await readdir(line.folder)).toEqual(['my-app'])
  })
})
