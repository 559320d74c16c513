import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createApiKey } from '@kith/protocol'
import type { Browser } from 'playwright-core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { openApp } from '#harness/app-people.ts'
import { openPage, withChromium } from '#harness/browser.ts'
import { CommandLine } from '#harness/command-line.ts'
import { repository } from '#harness/guide.ts'
import { ProgramProcess } from '#harness/program-process.ts'
import { TestServer } from '#harness/test-server.ts'

const guide = readFileSync(join(repository, 'docs/apps.md'), 'utf8')
const typescript = join(repository, 'node_modules/typescript/bin/tsc')

/** What the guide says that a file holds: its only block of this language. */
function blockOf(language: 'html' | 'ts' | 'json'): string {
  const blocks = [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
  expect(blocks).toHaveLength(1)
  return blocks[0]?.[1] ?? ''
}

withChromium('the guide for makers of apps', (launch) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })

  /** The folder of a new app, as `kith app init` makes it. */
  async function init(name: string) {
    const line = await CommandLine.open()
    onTestFinished(() => line[Symbol.asyncDispose]())
    const folder = join(line.folder, name)
    await line.json('app', 'init', folder)
    return { line, folder }
  }

  /** A tab with the app, as `kith app dev` shows it. */
  async function develop(folder: string, ...words: string[]) {
    const dev = new ProgramProcess(['app', 'dev', folder, '--port', '0', ...words], {
      TMPDIR: dirname(folder),
    })
    onTestFinished(() => dev[Symbol.asyncDispose]())
    const { url } = JSON.parse(await dev.firstLine())
    const open = async () => {
      const opened = await openPage(browser)
      await opened.page.goto(url)
      return { ...opened, app: opened.page.frameLocator('iframe') }
    }
    return { ...(await open()), open }
  }

  test('leads from nothing to an app that is seen at each change, packed, published and used', async () => {
    const { line, folder } = await init('shopping')
    const dev = await develop(folder)
    await dev.app.getByRole('heading', { name: 'Hello, Developer' }).waitFor()
    await dev.app.getByRole('button', { name: 'Count' }).click()
    await dev.app.getByText('1 clicks').waitFor()

    await writeFile(join(folder, 'index.html'), blockOf('html'))
    await writeFile(join(folder, 'src/main.ts'), "import './absent.ts'\n")
    await dev.page.getByRole('alert').getByText('./absent.ts').waitFor()
    const later = await dev.open()
    await later.page.getByRole('alert').getByText('./absent.ts').waitFor()
    await writeFile(join(folder, 'src/main.ts'), blockOf('ts'))
    await dev.app.getByLabel('What is missing?').fill('Milk')
    await dev.app.getByRole('button', { name: 'Add' }).click()
    for (const { app } of [dev, later]) await app.getByText('Milk (Developer)').waitFor()
    await later.page.getByLabel('Access').selectOption('read')
    await later.app.getByText('Milk (Developer)').waitFor()
    expect(await later.app.getByRole('button').count()).toBe(0)
    await dev.app.getByRole('button', { name: 'Bought' }).click()
    for (const { app } of [dev, later]) await app.getByText('Milk').waitFor({ state: 'detached' })

    await writeFile(join(folder, 'app.json'), blockOf('json'))
    const checked = spawnSync(process.execPath, [typescript, '-p', folder], { encoding: 'utf8' })
    expect({ out: checked.stdout, status: checked.status }).toEqual({ out: '', status: 0 })
    const packed = await line.json('app', 'pack', folder)
    expect(packed).toMatchObject({ file: join(folder, 'shopping-0.1.0.zip'), warnings: [] })

    const server = await TestServer.start({ baseIdTag: 'home.localhost' })
    onTestFinished(() => server.stop())
    const person = { idTag: 'home.localhost', server }
    // As the page for API keys makes one that may read and write.
    const body = { name: 'Apps', scope: 'write' } as const
    const { data } = await (await server.as(person.idTag)).call(createApiKey, { body })
    const publish = ['app', 'publish', folder, '--server', server.urlOf(person.idTag), '--install']
    const said = await line.run(publish, { answer: data.key })
    expect(said).toMatchObject({ exitCode: 0, err: '' })
    expect(said.out).toMatch(/^Shopping 0\.1\.0 is offered by home\.localhost, at .*, and installed\.\n$/)

    const opened = await openApp(browser, person, 'Shopping')
    await opened.page.getByLabel('Name').fill('Groceries')
    await opened.page.getByRole('button', { name: 'Create and open' }).click()
    await opened.app.getByLabel('What is missing?').fill('Bread')
    await opened.app.getByRole('button', { name: 'Add' }).click()
    await opened.app.getByText(/^Bread \(/).waitFor()
    expect([...dev.faults, ...later.faults, ...opened.faults]).toEqual([])
  })

  test('what goes wrong in the page of an app is told beside it, until it is mended', async () => {
    const { folder } = await init('broken')
    const manifest = JSON.parse(readFileSync(join(folder, 'app.json'), 'utf8'))
    await writeFile(join(folder, 'app.json'), JSON.stringify({ ...manifest, capabilities: [] }))
    const { page } = await develop(folder)
    const alert = page.getByRole('alert')
    await alert.getByText('The capabilities of app.json lack "rtdb".').waitFor()
    const script = `document.body.append(Object.assign(new Image(), { src: 'absent.png' }))
fetch('https://example.com/').catch(() => undefined)
document.head.append(Object.assign(document.createElement('style'), { textContent: '@import url(https://example.com/)' }))
if (!confirm('Go on?')) setTimeout(() => localStorage.setItem('a', 'b'))
setTimeout(() => { throw new RangeError('too late') })
await Promise.reject(new TypeError('not so'))
`
    await writeFile(join(folder, 'src/main.ts'), script)
    for (const told of [
      'Not loaded: absent.png',
      'Kept out by the sandbox: https://example.com/ (connect-src)',
      'The sandbox ignores confirm()',
      "Failed to read the 'localStorage' property",
      'RangeError: too late',
      'TypeError: not so',
    ])
      await alert.getByText(told).waitFor()
    expect(await alert.textContent()).not.toContain('undefined')
    await writeFile(join(folder, 'src/main.ts'), `document.title = '${manifest.name}'\n`)
    await expect.poll(() => alert.textContent()).toBe('')
  })

  test('an app that reads is opened on a text, or on a file of its author', async () => {
    const { folder } = await init('reader')
    const manifest = JSON.parse(readFileSync(join(folder, 'app.json'), 'utf8'))
    const reads = { capabilities: ['files:read'], fileTypes: ['text/plain', 'application/json'] }
    await writeFile(join(folder, 'app.json'), JSON.stringify({ ...manifest, ...reads }))
    await cp(join(repository, 'packages/app/test/readme/file.ts'), join(folder, 'src/main.ts'))
    const sample = await develop(folder)
    await sample.app.getByText('A text to read.').waitFor()
    await sample.page.getByText(/^Development\.txt, \d+ bytes$/).waitFor()
    expect(await sample.page.getByLabel('Access').isDisabled()).toBe(true)

    const path = join(dirname(folder), 'numbers.json')
    const content = JSON.stringify(Array.from({ length: 300_000 }, (_, at) => at))
    await writeFile(path, content)
    const own = await develop(folder, '--file', path)
    await own.page.getByText(`numbers.json, ${content.length} bytes`).waitFor()
    await expect.poll(() => own.app.locator('body').textContent()).toBe(content)
    expect([...sample.faults, ...own.faults]).toEqual([])
  })
})

test('the guide links to files that there are, and is linked from the first page', () => {
  const links = [...guide.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link)
  expect(links.filter((link) => !existsSync(resolve(repository, 'docs', link)))).toEqual([])
  expect(readFileSync(join(repository, 'README.md'), 'utf8')).toContain('](docs/apps.md)')
})
