import { cp, mkdir, open, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appPackageLimits, appPathKey, createApiKey, isAppPath, listInstalledApps } from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { startOrigin } from '#harness/origin-server.ts'
import { TestServer } from '#harness/test-server.ts'
import { readEntry, readZipIndex } from '#infra/zip/index.ts'
import { examplesFolder } from './init.ts'

const policy = {
  maxEntries: appPackageLimits.entries,
  maxInflatedBytes: appPackageLimits.inflatedBytes,
  maxRatio: appPackageLimits.ratio,
  smallBytes: appPackageLimits.smallEntryBytes,
  isPath: isAppPath,
  keyOf: appPathKey,
}

async function openLine(env: Readonly<Record<string, string>> = {}) {
  const line = await CommandLine.open(env)
  onTestFinished(() => line[Symbol.asyncDispose]())
  return line
}

/** The folder of a new app. */
async function init(line: CommandLine, template = 'empty'): Promise<string> {
  const folder = join(line.folder, 'my-app')
  await line.json('app', 'init', folder, '--template', template)
  return folder
}

async function change(folder: string, members: object): Promise<void> {
  const file = join(folder, 'app.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...manifest, ...members }))
}

/** The files of a package, as a server reads them. */
async function unpack(path: string): Promise<Record<string, string>> {
  await using file = await open(path, 'r')
  const source = { file, size: (await file.stat()).size }
  const entries = await readZipIndex(source, policy)
  const contents = entries.map(async (entry) => [entry.path, `${await readEntry(source, entry)}`] as const)
  return Object.fromEntries(await Promise.all(contents))
}

describe('kith app init', () => {
  test('makes an app of its own from a template', async () => {
    const line = await openLine()
    const folder = join(line.folder, 'shopping-list')
    const { manifest } = await line.json('app', 'init', folder, '--template', 'todo')
    expect(manifest).toMatchObject({ id: 'shopping-list', name: 'Shopping list', version: '0.1.0' })
    expect(JSON.parse(await readFile(join(folder, 'app.json'), 'utf8'))).toEqual(manifest)
    expect(manifest).not.toHaveProperty('titles')
    expect(await readFile(join(folder, 'src/main.ts'), 'utf8')).toContain("from '@kith/app'")
  })

  test.each(['empty', 'todo', 'poll'])('copies the template %s without its tests', async (template) => {
    const folder = await init(await openLine(), template)
    const made = ['app.json', 'index.html', 'src', 'style.css', 'tsconfig.json']
    expect(await readdir(folder)).toEqual(template === 'empty' ? made : made.toSpliced(1, 0, 'icon.svg'))
    const below = await readdir(folder, { recursive: true })
    expect(below.filter((path) => path.includes('test'))).toEqual([])
  })

  test('leaves what is there as it is', async () => {
    const line = await openLine()
    const folder = await init(line)
    const said = await line.run(['app', 'init', folder, '--json'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    expect(JSON.parse(said.err).error.code).toBe('E-DUPLICATE')
  })

  test.each([['My App'], ['/'], ['x', '--template', 'none']])(
    'is called wrongly with %j',
    async (...words) => {
      const line = await openLine()
      expect((await line.run(['app', 'init', ...words])).exitCode).toBe(2)
    },
  )
})

describe('kith app pack', () => {
  test('bundles what pages name, leaves out sources and tests, and makes the same bytes again', async () => {
    const line = await openLine()
    const folder = await init(line, 'todo')
    await writeFile(join(folder, '.secret'), 'x')
    await writeFile(join(folder, 'README.md'), 'x')
    await mkdir(join(folder, 'test'))
    await writeFile(join(folder, 'test/app.test.ts'), 'x')
    await writeFile(join(folder, 'test/given.txt'), 'x')
    await mkdir(join(folder, 'pictures'))
    await writeFile(join(folder, 'pictures/ä.txt'), 'a'.repeat(1_000_000))
    const made = await line.json('app', 'pack', folder)
    expect(made).toMatchObject({
      id: 'my-app',
      name: 'My app',
      version: '0.1.0',
      file: join(folder, 'my-app-0.1.0.zip'),
    })
    const files = await unpack(made.file)
    expect(Object.keys(files).map((path) => path.replace(/-[\w-]{8}\.js$/, '-HASH.js'))).toEqual([
      'app.json',
      'icon.svg',
      'index.html',
      'pictures/ä.txt',
      'scripts/_not-asked-crdt-HASH.js',
      'scripts/rtdb-HASH.js',
      'scripts/src-main.js',
      'style.css',
    ])
    expect(files['index.html']).toContain('src="./scripts/src-main.js"')
    const other = join(line.folder, 'again.zip')
    await line.json('app', 'pack', folder, '--out', other)
    expect(await readFile(other)).toEqual(await readFile(made.file))
  })

  test('bundles JavaScript in src, JSX, and scripts that are named from the root of the folder', async () => {
    const line = await openLine()
    const folder = await init(line)
    const page = `<script type="module" src="/src/main.ts"></script>
<script type='module' src='src/plain.js'></script>
<script type="module" src="view.jsx"></script>
<script src="kept.js"></script>`
    await writeFile(join(folder, 'index.html'), page)
    await writeFile(join(folder, 'src/part.js'), "export const part = 'a part'\n")
    await writeFile(join(folder, 'src/plain.js'), "import { part } from './part.js'\ndocument.title = part\n")
    await writeFile(
      join(folder, 'view.jsx'),
      '/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (name) => name\ndocument.title = <b />\n',
    )
    await writeFile(join(folder, 'kept.js'), 'document.title = 1\n')
    const { file, warnings } = await line.json('app', 'pack', folder)
    expect(warnings).toEqual([])
    const files = await unpack(file)
    expect([...(files['index.html'] ?? '').matchAll(/src="([^"]+)"/g)].map(([, src]) => src)).toEqual([
      './scripts/src-main.js',
      './scripts/src-plain.js',
      './scripts/view.js',
      'kept.js',
    ])
    expect(files['scripts/src-plain.js']).toContain('a part')
    expect(files['scripts/view.js']).not.toContain('<b')
    expect(Object.keys(files)).not.toContain('view.jsx')
  })

  test('warns of what the sandbox does not load or run', async () => {
    const line = await openLine()
    const folder = await init(line)
    await writeFile(join(folder, 'help.html'), '<script>start()</script>')
    const { exitCode, out } = await line.run(['app', 'pack', folder])
    expect(exitCode).toBe(0)
    expect(out).toContain('\nhelp.html has a script within it, which does not run: move it to a file.\n')
  })

  test.each<[string, string, (folder: string) => Promise<unknown>]>([
    [
      'without a manifest',
      'manifest-missing',
      (folder) => mkdir(join(folder, 'x')).then(() => writeFile(join(folder, 'app.json.off'), '')),
    ],
    ['with a wrong manifest', 'manifest-invalid', (folder) => change(folder, { version: '1.0' })],
    [
      'with too long an id',
      'manifest-invalid',
      (folder) => change(folder, { id: `${'a'.repeat(60)}.${'b'.repeat(60)}` }),
    ],
    ['without its entry', 'entry-missing', (folder) => change(folder, { entry: 'start.html' })],
    ['without its icon', 'icon-missing', (folder) => change(folder, { icon: 'icon.png' })],
    ['with a link', 'symlink', (folder) => symlink('/etc/passwd', join(folder, 'passwords.txt'))],
    ['with names that clash', 'duplicate-path', (folder) => writeFile(join(folder, 'INDEX.html'), '')],
    ['with a name that is none', 'bad-path', (folder) => writeFile(join(folder, 'a\\b.txt'), '')],
    [
      'with a member twice in its manifest',
      'manifest-not-json',
      (folder) => writeFile(join(folder, 'app.json'), '{"id":"a","id":"b"}'),
    ],
    ['with a title of nothing', 'manifest-invalid', (folder) => change(folder, { titles: { en: '\u200b' } })],
  ])('refuses a folder %s', async (_what, reason, spoil) => {
    const line = await openLine()
    const folder = await init(line)
    await spoil(folder)
    const place = reason === 'manifest-missing' ? join(folder, 'x') : folder
    const said = await line.run(['app', 'pack', place, '--json'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    expect(JSON.parse(said.err).error).toMatchObject({ code: 'E-VALIDATION', details: { reason } })
  })

  test('replaces a link that has the name of the package, and follows none', async () => {
    const line = await openLine()
    const folder = await init(line)
    const other = join(line.folder, 'other.txt')
    await writeFile(other, 'kept')
    await symlink(other, join(folder, 'my-app-0.1.0.zip'))
    const { file } = await line.json('app', 'pack', folder)
    expect(await readFile(other, 'utf8')).toBe('kept')
    expect(Object.keys(await unpack(file))).toContain('app.json')
    await rename(join(folder, 'app.json'), join(line.folder, 'app.json'))
    await symlink(join(line.folder, 'app.json'), join(folder, 'app.json'))
    const { err } = await line.run(['app', 'pack', folder])
    expect(err).toMatch(/reason: symlink\n.*path: app\.json\n/)
  })

  test.each([['<script '], ['<!--'], ['<img src="'], ['<a on']])(
    'takes a page of %s over and over, in time that grows with its size',
    async (part) => {
      const line = await openLine()
      const folder = await init(line)
      await writeFile(join(folder, 'long.html'), part.repeat(400_000))
      expect(await line.run(['app', 'pack', folder])).toMatchObject({ exitCode: 0 })
    },
  )

  test('says which file is an archive, and leaves no package behind', async () => {
    const line = await openLine()
    const folder = await init(line)
    await writeFile(join(folder, 'data.bin'), 'PK\x03\x04')
    const { exitCode, err } = await line.run(['app', 'pack', folder])
    expect(exitCode).toBe(1)
    expect(err).toContain('The package contains another zip archive.')
    expect(err).toMatch(/reason: nested-archive\n.*path: data\.bin\n/)
    expect((await readdir(folder)).filter((name) => name.endsWith('.zip'))).toEqual([])
  })

  test.each<[string, object | string, string]>([
    [
      'of no JSON',
      '{\n  "id": "a",\n}',
      'Expected double-quoted property name in JSON at position 15 (line 3 column 1)',
    ],
    ['with a member twice', '{"id":"a","id":"b"}', 'must not have the member "id" twice'],
    [
      'with a language that is none',
      { titles: { DE: 'x' } },
      'path /titles/DE, message must have language tags',
    ],
    ['without a version', { version: undefined }, 'path /version, message is required'],
    ['with half a version', { version: '1.0' }, 'path /version, message must be a version like 1.2.3'],
    [
      'that asks for more than there is',
      { capabilities: ['disk', 'rtdb'], icon: 'icon.gif' },
      'path /capabilities/0, message must be "crdt" or "rtdb" or "files:read"',
    ],
    [
      'with a picture of another type',
      { capabilities: ['disk'], icon: 'icon.gif' },
      '.png, .svg, .webp or .jpg',
    ],
  ])('says what is wrong with a manifest %s', async (_what, wrong, words) => {
    const line = await openLine()
    const folder = await init(line)
    if (typeof wrong === 'string') await writeFile(join(folder, 'app.json'), wrong)
    else await change(folder, wrong)
    const { exitCode, err } = await line.run(['app', 'pack', folder])
    expect(exitCode).toBe(1)
    expect(err).toContain(words)
  })

  test.each([['absent'], ['my-app/app.json']])('says that %s is no folder', async (name) => {
    const line = await openLine()
    await init(line)
    const folder = join(line.folder, name)
    const { exitCode, err } = await line.run(['app', 'pack', folder])
    expect([exitCode, err.split('\n')[0]]).toEqual([2, expect.stringContaining(`FOLDER ${folder} is no`)])
  })

  test.each([['./absent.ts'], ['lodash'], ['node:fs'], ['https://cdn.example/lodash.js']])(
    'says that %s cannot be imported',
    async (name) => {
      const line = await openLine()
      const folder = await init(line)
      await writeFile(join(folder, 'src/main.ts'), `import '${name}'\n`)
      const { exitCode, err } = await line.run(['app', 'pack', folder])
      expect(exitCode).toBe(1)
      expect(err).toContain('The app cannot be bundled.')
      expect(err).toContain(name)
      expect(err).not.toContain('\u001b')
    },
  )

  test('takes a package that can do without another one', async () => {
    const line = await openLine()
    const folder = await init(line)
    const library = join(folder, 'node_modules/library')
    await mkdir(library, { recursive: true })
    await writeFile(join(library, 'package.json'), '{"name":"library","main":"main.js"}')
    await writeFile(
      join(library, 'main.js'),
      "try { require('absent') } catch {}\nexports.answer = 'forty-two'\n",
    )
    await writeFile(
      join(folder, 'src/main.ts'),
      "import { answer } from 'library'\ndocument.title = answer\n",
    )
    const { file } = await line.json('app', 'pack', folder)
    expect((await unpack(file))['scripts/src-main.js']).toContain('forty-two')
  })
})

describe('kith app publish', () => {
  let server: TestServer
  let url: string
  let token: string
  beforeAll(async () => {
    server = await TestServer.start()
    const { idTag } = await server.createTenant('alice.localhost')
    url = server.urlOf(idTag)
    token = await server.signIn(idTag)
  })
  afterAll(() => server?.stop())

  test('offers a version once, whatever becomes of the folder', async () => {
    const line = await openLine({ KITH_TOKEN: token })
    const folder = await init(line)
    const words = ['app', 'publish', folder, '--server', url]
    const first = await line.json(...words)
    expect(first).toMatchObject({
      server: url,
      id: 'my-app',
      version: '0.1.0',
      published: true,
      installed: false,
    })
    const again = await line.json(...words, '--install')
    expect(again).toEqual({ ...first, published: false, installed: true })
    await writeFile(join(folder, 'style.css'), 'body { margin: 0 }')
    const said = await line.run([...words, '--json'])
    expect(JSON.parse(said.err).error).toMatchObject({
      code: 'E-DUPLICATE',
      details: { actionId: first.actionId },
    })
    await change(folder, { version: '0.2.0' })
    expect(await line.json(...words, '--install')).toMatchObject({ version: '0.2.0', published: true })
    const { data } = await server.client('alice.localhost', token).call(listInstalledApps)
    expect(data).toMatchObject([{ name: 'My app', version: '0.2.0', publisherTag: 'alice.localhost' }])
  })

  test('asks for the token where the environment has none', async () => {
    const line = await openLine()
    const folder = await init(line)
    await change(folder, { name: 'Asked for' })
    const said = await line.run(['app', 'publish', folder, '--server', url], { answer: token })
    expect(said).toMatchObject({
      exitCode: 0,
      out: `Asked for 0.1.0 is offered by alice.localhost, at ${url}.\n`,
    })
    expect(said.out + said.err).not.toContain(token)
  })

  test('is content with an API key for files, actions and apps', async () => {
    const owner = server.client('alice.localhost', token)
    const scope = 'write:files,write:actions,write:apps'
    const { data } = await owner.call(createApiKey, { body: { name: 'publishing', scope } })
    const line = await openLine({ KITH_TOKEN: data.key })
    const folder = await init(line)
    await change(folder, { name: 'By key' })
    const published = await line.json('app', 'publish', folder, '--server', url, '--install')
    expect(published).toMatchObject({ name: 'By key', published: true, installed: true })
  })

  test('says what to look at where a key may only read', async () => {
    const owner = server.client('alice.localhost', token)
    const { data } = await owner.call(createApiKey, { body: { name: 'reading', scope: 'read' } })
    const line = await openLine({ KITH_TOKEN: data.key })
    const folder = await init(line)
    await change(folder, { name: 'By reader' })
    const { exitCode, err } = await line.run(['app', 'publish', folder, '--server', url])
    expect(exitCode).toBe(1)
    expect(err).toMatch(/ answers: .* May the key write, and does it belong to the owner or a leader\?\n/)
  })

  test.each<[string, string, string, readonly string[]]>([
    ['a token that is none', 'E-AUTH-UNAUTH', 'answers: .* Is the key whole', []],
    ['a server that is not there', 'E-UNAVAILABLE', 'cannot be', ['--server', 'http://alice.localhost:1']],
  ])('fails with %s', async (_what, code, words, more) => {
    const line = await openLine({ KITH_TOKEN: 'none' })
    const folder = await init(line)
    const said = await line.run(['app', 'publish', folder, '--server', url, ...more, '--json'])
    expect(said).toMatchObject({ exitCode: 1, out: '' })
    const { error } = JSON.parse(said.err)
    expect(error.code).toBe(code)
    expect(error.message).toMatch(new RegExp(`^${more[1] ?? url} ${words}`))
  })

  test('says which file a server refuses, and why', async () => {
    const details = { reason: 'nested-archive', path: 'a.bin' }
    const error = { code: 'E-VALIDATION', message: 'The package contains another zip archive.', details }
    await using other = await startOrigin((_, answer) => {
      answer.writeHead(400, { 'content-type': 'application/json' })
      answer.end(JSON.stringify({ error, time: 1, reqId: 'x' }))
    })
    const line = await openLine({ KITH_TOKEN: token })
    const { err } = await line.run(['app', 'publish', await init(line), '--server', other.url])
    expect(err).toContain(`${other.url} answers: ${error.message}`)
    expect(err).toMatch(/reason: nested-archive\n.*path: a\.bin\n/)
  })

  test.each([['<h1>Welcome</h1>'], ['null'], ['[]'], ['{"data":7}'], ['{"data":{"idTag":"a.example"}}']])(
    'says that a server which answers %s is none of Kith',
    async (answer) => {
      await using other = await startOrigin((_, response) => response.end(answer))
      const line = await openLine({ KITH_TOKEN: token })
      const said = await line.run(['app', 'publish', await init(line), '--server', other.url])
      expect(said.exitCode).toBe(1)
      expect(said.err).toContain(`${other.url} answers, but not as a Kith server does.`)
      expect(said.err).not.toMatch(/ {4}at /)
    },
  )

  test('says that a server answers without https', async () => {
    const line = await openLine({ KITH_TOKEN: 'none' })
    const server = url.replace('http:', 'https:')
    const { err } = await line.run(['app', 'publish', await init(line), '--server', server])
    expect(err).toContain(`${server} answers, but not with https. Is it ${url}?`)
    expect(err).not.toContain('routines')
  })

  test.each([
    [[]],
    [['--server', 'alice.localhost']],
    [['--server', 'https://a.example', '--visibility', 'all']],
  ])('is called wrongly with %j', async (words) => {
    const line = await openLine({ KITH_TOKEN: token })
    expect((await line.run(['app', 'publish', ...words])).exitCode).toBe(2)
  })
})

describe('kith app install-examples', () => {
  test('offers and installs them, and leaves what is there as it is', async () => {
    await using server = await TestServer.start()
    const { idTag } = await server.createTenant('alice.localhost')
    const token = await server.signIn(idTag)
    const line = await openLine({ KITH_TOKEN: token })
    const words = ['--server', server.urlOf(idTag)]
    // As an earlier release may have bundled it.
    const folder = join(line.folder, 'todo')
    await cp(join(examplesFolder, 'todo'), folder, { recursive: true })
    await writeFile(join(folder, 'style.css'), 'body { margin: 0 }')
    const { fileId } = await line.json('app', 'publish', folder, ...words)
    const { apps } = await line.json('app', 'install-examples', ...words)
    expect(apps).toMatchObject([
      { name: 'To-do', idTag, fileId, published: false, installed: true, warnings: [] },
      { name: 'Poll', idTag, published: true, installed: true, warnings: [] },
    ])
    const again = await line.run(['app', 'install-examples', ...words])
    expect(again).toMatchObject({ exitCode: 0, err: '' })
    expect(again.out).toMatch(
      /^To-do 1\.0\.0 was offered before by alice\.localhost, at .*, and installed\.\nPoll /,
    )
    const { data } = await server.client(idTag, token).call(listInstalledApps)
    expect(data.map(({ name }) => name).sort()).toEqual(['Poll', 'To-do'])
  })

  test('is called wrongly without an address', async () => {
    const line = await openLine()
    expect((await line.run(['app', 'install-examples'])).exitCode).toBe(2)
  })
})
